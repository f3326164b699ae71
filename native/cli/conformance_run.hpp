// Conformance cases on targets, as a campaign: which passed, which gave the same bits elsewhere, and the
// output of this. Client: the conformance command.
#pragma once

#include <array>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/campaign/campaign.hpp"
#include "native/cli/conformance_cases.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

enum class Outcome { passed, failed, unsupported };

/// As documents and stores have them.
inline constexpr std::array<std::string_view, 3> outcome_names = {"passed", "failed", "not supported"};
[[nodiscard]] constexpr std::string_view outcome_name(Outcome outcome) {
  return outcome_names[static_cast<std::size_t>(outcome)];
}

struct CaseResult {
  Outcome outcome = Outcome::passed;
  std::string reason;             ///< empty when passed
  std::string outputs_sha256;     ///< when passed: of all data sets, to compare bits between targets
  std::optional<bool> same_bits;  ///< compared with the first target of the same engine
  std::string lost_before;        ///< how a browser was lost during it that was not when it ran again
};

/// One target over all cases.
struct TargetResults {
  Target target;
  std::optional<Error> error;  ///< the target as a whole: nothing ran
  std::vector<CaseResult> cases;
};

/// `campaign`: where all targets are; the rest is what `target` is doing, in cases of this batch.
using ConformanceProgress = std::function<void(const Target& target, const CampaignStep& campaign,
                                               std::string_view step, std::int64_t done, std::int64_t total)>;

/// What results depend on, beside the targets: for the definition of the store.
[[nodiscard]] nlohmann::json conformance_fields(const std::vector<ConformanceCase>& cases);

/// Where results are kept.
struct ConformanceKept {
  CampaignStore& store;
  std::vector<std::string> names = {};       ///< of the targets in it; none: as they are written
  std::optional<double> batch_seconds = {};  ///< as of Campaign
};

/// All cases on all targets, but for those that the store has. Errors: those of the store; a target that does
/// not run has its error in its results.
[[nodiscard]] Result<std::vector<TargetResults>> run_conformance_cases(
    TargetRunner& runner, const std::vector<Target>& targets, const std::vector<ConformanceCase>& cases,
    const ConformanceKept& kept, const ConformanceProgress& progress);

/// Targets of strict, and of reference, must agree bit by bit: each is compared with the first of its
/// engine.
void compare_bits(std::vector<TargetResults>& all);

/// Counts per target and family.
[[nodiscard]] std::string conformance_table(const std::vector<TargetResults>& all,
                                            const std::vector<ConformanceCase>& cases);

/// Failures, and browsers that were lost, one by one; unsupported cases grouped by their reason.
[[nodiscard]] std::string conformance_findings(const std::vector<TargetResults>& all,
                                               const std::vector<ConformanceCase>& cases);

/// {"format":"driftscope-conformance-1","targets":[{"target","passed","failed","not_supported",
///  "same_bits":{"compared","same"}?,
///  "cases":[{"family","name","operators":[…],"result","reason"?,"same_bits"?,"lost_before"?}]}]};
/// a target that did not run has "error" instead.
[[nodiscard]] std::string conformance_json(const std::vector<TargetResults>& all,
                                           const std::vector<ConformanceCase>& cases);

}  // namespace driftscope
