#include "run/out_folder.h"

#include <fmt/format.h>

#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "run/run.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRun = "run.json";

[[noreturn]] void ThrowDisk(const fs::path& path, std::string_view what,
                            const std::error_code& error) {
  throw Error(Fault::kEnvironment, fmt::format("{}: {}: {}", path.string(), what, error.message()));
}

// True if run.json says that perfgate wrote it, in whatever version of its schema.
bool IsOurs(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error))) return false;
  try {
    const Json json = ParseJson(ReadFile(file, int64_t{64} << 20), file.string());
    const Json* schema = json.Find("schema");
    return schema != nullptr && schema->IsString() &&
           schema->AsString().starts_with("perfgate.run/");
  } catch (const Error&) {
    return false;  // no JSON: someone else's
  }
}

void Remove(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) ThrowDisk(path, "cannot remove what an earlier run left", error);
}

// What a perfgate that was killed while it wrote run.json leaves: "run.json.tmp-<pid>".
void RemoveHalfWritten(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with("run.json.tmp-")) found.push_back(it->path());
  }
  for (const fs::path& path : found) Remove(path);
}

// Where a folder is while the last of it goes: an empty one is no one's by its name alone.
fs::path Going(const fs::path& out_dir) {
  const fs::path normal = out_dir.lexically_normal();
  const fs::path folder = normal.has_filename() ? normal : normal.parent_path();
  return folder.parent_path() / ("." + folder.filename().string() + ".gone");
}

bool HoldsOnly(const fs::path& folder, std::string_view name) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename() != name) return false;
  }
  return !error;
}

void RemoveIfGoing(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error))) return;
  if (fs::is_empty(folder, error) || (HoldsOnly(folder, kRun) && IsOurs(folder / kRun))) {
    Remove(folder);
  }
}

}  // namespace

void MakeFolder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) ThrowDisk(folder, "cannot make the folder", error);
}

void MakeOutFolder(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) return MakeFolder(folder);
  if (!fs::is_directory(status)) {
    throw Error(Fault::kUsage,
                fmt::format("{}: is not a folder; name another one with --out", folder.string()));
  }
  RemoveHalfWritten(folder);
  const bool empty = fs::is_empty(folder, error);
  if (error) ThrowDisk(folder, "cannot read the folder", error);
  if (empty) return;
  if (!IsOurs(folder / kRun)) {
    throw Error(Fault::kUsage,
                fmt::format("{}: holds files but no run of perfgate, so nothing in it is touched; "
                            "empty it, or name another folder with --out",
                            folder.string()));
  }
  // run.json stays until the new one takes its place: killed in between, the folder is still ours.
  for (const char* name : {"attempts", "prepare"}) Remove(folder / name);
}

int64_t OutFolderBytes(const fs::path& out_dir) {
  int64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(out_dir, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code gone;  // by someone else, meanwhile
    if (!fs::is_regular_file(it->symlink_status(gone))) continue;
    const auto size = it->file_size(gone);
    if (!gone) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

void RemoveOutFolder(const fs::path& out_dir) {
  std::error_code error;
  if (fs::symlink_status(out_dir, error).type() == fs::file_type::not_found) return;
  if (!IsOurs(out_dir / kRun)) {
    throw Error(
        Fault::kUsage,
        fmt::format("{}: holds no run of perfgate, so nothing in it is touched", out_dir.string()));
  }
  RemoveHalfWritten(out_dir);
  for (const char* name : {"attempts", "prepare"}) Remove(out_dir / name);
  const fs::path going = Going(out_dir);
  RemoveIfGoing(going);
  fs::path last = out_dir;
  if (HoldsOnly(out_dir, kRun)) {
    fs::rename(out_dir, going, error);
    if (!error) last = going;
  }
  Remove(last / kRun);
  std::error_code not_empty;
  fs::remove(last, not_empty);
}

void FinishRemovals(const fs::path& folder) {
  RemoveIfGoing(Going(folder));
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(".") && name.ends_with(".gone")) found.push_back(it->path());
  }
  for (const fs::path& path : found) RemoveIfGoing(path);
}

}  // namespace perfgate
