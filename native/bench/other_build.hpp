// Another build of Driftscope, whose engines a bench measures beside its own. Clients: the bench command,
// bench.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.hpp"

namespace driftscope {

struct OtherBuild {
  std::string name;               ///< as the user wrote it
  std::filesystem::path program;  ///< of the host pc; empty: there is none
  std::filesystem::path site;     ///< for browsers; empty: there is none
};

/// `path` is the program `driftscope`, or a folder: of a built or an installed Driftscope (driftscope,
/// bin/driftscope or build/native/driftscope in it), or a built page. The page is looked for beside the
/// program, as find_site does. Errors: neither is there.
[[nodiscard]] Result<OtherBuild> find_other_build(const std::string& path);

}  // namespace driftscope
