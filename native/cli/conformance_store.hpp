// Where the results of conformance cases are kept, and all that they depend on. Client: the conformance
// command. What is in a result: conformance_run.hpp.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "native/cli/conformance_run.hpp"

namespace driftscope {

/// What browsers and Node load from the page's folder: the names and bytes of all files but the samples
/// (assets/) and compressed copies. Errors: a file or folder that cannot be read.
[[nodiscard]] Result<std::string> site_sha256(const std::filesystem::path& site);

/// Each with what it runs on, so that an update of it runs again: "chrome/strict (Chromium 156.0.1)".
[[nodiscard]] std::vector<std::string> names_in_store(const std::vector<Target>& targets);

/// `site`: as of find_site. Errors: those of FileStore, and of site_sha256.
[[nodiscard]] Result<std::unique_ptr<CampaignStore>> open_conformance_store(
    const std::filesystem::path& path, const std::filesystem::path& site,
    const std::vector<ConformanceCase>& cases);

}  // namespace driftscope
