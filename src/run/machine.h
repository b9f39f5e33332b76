// Facts of the host, as texts.
#pragma once

#include <map>
#include <string>

namespace perfgate {

// cpu (model), cpu_isa (a short word: avx512, avx2, x86-64, sve, neon), cores (that this process
// may use), os, kernel, host. What the machine does not say is left out.
std::map<std::string, std::string> MachineFacts();

// The value of `key` in a text of lines "key<blanks><separator> value", quotes taken off; "" if
// there is none. For /proc/cpuinfo and /etc/os-release.
std::string ValueInLines(const std::string& text, const std::string& key, char separator);

}  // namespace perfgate
