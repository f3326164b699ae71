// Where a command keeps results of targets, so that it can go on from there, and all that they depend on.
// Clients: conformance, the data set of compare, which bring the format of a result.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/campaign/campaign.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/target.hpp"
#include "native/host/model_file.hpp"
#include "native/host/run_request.hpp"

namespace driftscope {

/// What browsers and Node load from the page's folder: the names and bytes of all files but the samples
/// (assets/) and compressed copies. Errors: a file or folder that cannot be read.
[[nodiscard]] Result<std::string> site_sha256(const std::filesystem::path& site);

/// Each with what it runs on, so that an update of it runs again: "chrome/strict (Chromium 156.0.1)". Of a
/// WebDriver's browser: address, hash of the capabilities, and the versions that the driver knows.
[[nodiscard]] std::vector<std::string> names_in_store(const std::vector<Target>& targets,
                                                      const RunnerOptions& runner);

/// The same names for a job elsewhere, which check_names takes: empty where the target is this program, which
/// is there as well.
[[nodiscard]] std::vector<std::string> names_elsewhere(const std::vector<Target>& targets,
                                                       std::vector<std::string> names);
/// There: the error, a missing one, where a target is another one than its name says.
[[nodiscard]] Status check_names(const std::vector<std::string>& names, const std::vector<Target>& targets,
                                 const RunnerOptions& runner);

/// Of a model, its files of external data, and tensors: a line for each, names included.
[[nodiscard]] std::string hashes_of(const ModelFile& model);
[[nodiscard]] std::string hashes_of(const NamedInputs& tensors);

/// `spec`: as open_campaign_store takes it. `fields`: what the results depend on beside this machine, the
/// build, the page and the targets. `site`: as of find_site. Errors: those of the store, and of site_sha256.
[[nodiscard]] Result<std::unique_ptr<CampaignStore>> open_result_store(const std::string& spec,
                                                                       const std::string& kind,
                                                                       nlohmann::json fields,
                                                                       const std::filesystem::path& site);

}  // namespace driftscope
