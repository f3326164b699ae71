// What a judged case says to the hunt: which of its layers are wrong, and which findings are alike. Clients:
// native/host/hunt_run, tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/campaign/campaign.hpp"
#include "core/graph/graph.hpp"
#include "core/verify/layer_verdict.hpp"
#include "generated/documents/hunt_case.hpp"

namespace driftscope::hunt {

/// Every layer that is suspect or a fault. The key has operator and cause, or, without one, the attributes
/// that are words, whether nearly all elements are wrong, and whether they are NaN. With `device_errors`
/// (run_fact.hpp) the first layer stands for all: an error of one kernel discards what was submitted with it.
[[nodiscard]] std::vector<documents::HuntFound> found_in(const Graph& graph, const Verification& verification,
                                                         const std::vector<std::string>& device_errors = {});

/// It is of several nodes that were judged together: which of them is wrong is not known. Never of a run as a
/// whole, such as one that ended the browser.
[[nodiscard]] bool is_group(const documents::HuntFound& found);

/// `found` with the findings of `watched`, the same case run with every value watched, in place of those of
/// groups. A group of which no operator is wrong then is kept: it is wrong where values are not watched.
[[nodiscard]] std::vector<documents::HuntFound> narrowed(std::vector<documents::HuntFound> found,
                                                         const std::vector<documents::HuntFound>& watched);

/// Numbers and names in quotes as "#", so that messages about the same thing are the same.
[[nodiscard]] std::string without_particulars(std::string_view text);

/// All results of a hunt together. `targets`: how they are called in the store, and by the user.
struct HuntTargets {
  std::vector<std::string> in_store;
  std::vector<std::string> names;
};
/// Fills in targets, findings and refusals. Errors: a damaged result, with its place.
[[nodiscard]] Status summarize(const CampaignResults& results, const HuntTargets& targets,
                               documents::Hunt& hunt);

/// The summary for people: a line for each finding, refusals by target, counts.
[[nodiscard]] std::string hunt_text(const documents::Hunt& hunt);

/// "fault  chrome/ort-webgpu  Resize: explained by …"
[[nodiscard]] std::string finding_line(const std::string& target, const documents::HuntFound& found,
                                       const std::string& of);

/// A number of the hunt's cases as a name, so that they sort: "seed 7, case 00000012".
[[nodiscard]] std::string case_name(std::int64_t number);

}  // namespace driftscope::hunt
