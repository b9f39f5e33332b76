// What a file is by its first bytes, if they cannot start a JSON document.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace perfgate {

// "a PNG image", "an empty file". Empty: it starts like JSON. `head` is the start of the
// decompressed data.
std::string KindOfFile(std::string_view head, const std::filesystem::path& path);

}  // namespace perfgate
