// `compare` on a folder: which of its options that takes, and what is printed and written. Client: compare.
#pragma once

#include <string>
#include <vector>

#include "core/checks/fail_on.hpp"
#include "native/cli/compare_run.hpp"

namespace CLI {
class App;
}

namespace driftscope {

struct FolderOptions {
  std::string part;
  double tolerance = 0.01;
  std::string wrong;  ///< an option that was given and has no meaning with a folder
  std::string alone;  ///< one that has a meaning with a folder alone
};

void add_folder_options(CLI::App& app, FolderOptions& options);

/// After parsing: fills in `wrong` and `alone`.
void look_for_wrong_options(const CLI::App& app, FolderOptions& options);

struct FolderCommand {
  std::string folder;
  std::string left;
  std::vector<std::string> right;  ///< may be empty
  std::string json, page;          ///< empty: not written
  FailOn conditions;
};
[[nodiscard]] Result<Exit> compare_folder(const FolderCommand& command, const FolderOptions& options,
                                          const CompareRequest& request);

}  // namespace driftscope
