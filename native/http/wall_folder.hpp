// A folder of stored comparisons as a wall (core/wall), read again where files changed. Clients: the command
// wall, serve --results. It writes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/result.hpp"
#include "core/wall/wall.hpp"

namespace driftscope {

/// What is not read, and said to be.
struct WallLimits {
  std::size_t files = 10'000;  ///< with the ending .json, in the order of their names
  std::uintmax_t file_bytes = std::uintmax_t{128} << 20;
  std::size_t listed = 1'000'000;  ///< entries of the folder that are looked at
};

class WallFolder {
 public:
  explicit WallFolder(std::filesystem::path folder, WallLimits limits = {});

  /// Files with the ending .json at any depth. Links are not followed, hidden folders not entered; files that
  /// are no comparisons are counted, those that cannot be read are named (Wall::skipped). A file is parsed
  /// once until its size or time changes. Errors: the folder cannot be listed. May be called by several
  /// threads.
  [[nodiscard]] Result<std::shared_ptr<const wall::Wall>> read();

 private:
  struct Known {
    std::uintmax_t bytes = 0;
    std::int64_t written_ns = 0;  ///< since 1970
    bool comparison = false;
    wall::StoredFile file;
  };
  struct Found;
  [[nodiscard]] Result<std::map<std::string, Found>> list(std::size_t& left_out) const;
  [[nodiscard]] Known read_one(const std::string& name, const Found& found) const;
  [[nodiscard]] std::shared_ptr<const wall::Wall> made(std::size_t left_out) const;

  std::filesystem::path folder_;
  WallLimits limits_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;  // by name below the folder
  std::shared_ptr<const wall::Wall> wall_;
  std::size_t left_out_ = 0;
};

}  // namespace driftscope
