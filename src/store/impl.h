// What a Store holds.
#pragma once

#include <filesystem>

#include "store/sqlite.h"
#include "store/store.h"

namespace perfgate {

struct Store::Impl {
  explicit Impl(const std::filesystem::path& file) : database(file) {}
  Database database;
};

}  // namespace perfgate
