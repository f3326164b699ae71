// A private temporary folder that is removed with everything in it: by its owner, or by the
// clean-up registry when Driftscope is interrupted. Clients: launcher, tests.
#pragma once

#include <filesystem>

#include "core/base/result.hpp"
#include "native/os/cleanup.hpp"

namespace driftscope {

class TempFolder {
 public:
  /// In $TMPDIR or /tmp, readable by this user only. Also removes folders left by a killed Driftscope: those
  /// that no process has locked, as process numbers mean nothing where containers share a folder. Processes
  /// that have their own folders there are ended first.
  [[nodiscard]] static Result<TempFolder> make();
  /// The same in this folder.
  [[nodiscard]] static Result<TempFolder> make_in(const std::filesystem::path& parent);
  ~TempFolder();
  TempFolder(TempFolder&& other) noexcept;
  TempFolder& operator=(TempFolder&&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  TempFolder() = default;
  std::filesystem::path path_;  // empty: moved from
  int lock_ = -1;               // the folder, open and locked: its owner lives
  CleanupRegistry::Id cleanup_ = 0;
};

}  // namespace driftscope
