#include "run/ask.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace perfgate {

Response Ask(std::vector<std::string> argv, int64_t timeout_ns, World& world) {
  const TemporaryFolder folder("ask");
  Process process;
  process.argv = std::move(argv);
  process.cwd = folder.path();
  process.timeout_ns = timeout_ns;
  process.stdout_file = folder.path() / "stdout";
  Response response;
  response.result = world.RunProcess(process);
  std::error_code error;  // a program that was not started leaves no file
  if (std::filesystem::exists(process.stdout_file, error)) {
    response.text = ReadFile(process.stdout_file);
  }
  return response;
}

}  // namespace perfgate
