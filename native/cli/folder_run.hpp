// Every variant in a model's folder, one after the other, as `compare` runs a single model. Client: the
// command compare.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/checks/fail_on.hpp"
#include "generated/documents/folder.hpp"
#include "native/cli/compare_run.hpp"

namespace driftscope {

struct FolderRequest {
  std::filesystem::path folder;
  std::string part;             ///< empty: all
  CompareRequest compare;       ///< of each variant; its inputs are those of the reference variant
  std::vector<Target> targets;  ///< the one of the reference answers first
  FailOn conditions;
  double tolerance = 0.01;
};

struct FolderResults {
  documents::Folder document;
  Exit exit = Exit::ok;  ///< of runs that failed, as of compare
};

/// What fails of a variant or target is in its place, and the rest goes on. Errors: the folder cannot be
/// read, holds no model or no such part; inputs that the user gave and its first part cannot have.
[[nodiscard]] Result<FolderResults> run_folder(const FolderRequest& request);

}  // namespace driftscope
