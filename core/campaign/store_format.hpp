// The text of a campaign's store, "driftscope-campaign-1" (docs/formats.md): a line of JSON that names the
// campaign, then one per result. Clients: the stores (native/campaign), reports, tests. It touches no files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/campaign/campaign.hpp"

namespace driftscope {

/// What results depend on. Stores of other definitions, or of other builds, are not continued.
struct CampaignDefinition {
  std::string kind;       ///< "conformance"
  nlohmann::json fields;  ///< an object; each is compared, and named where it differs
  std::string build;      ///< of the program
};

/// Without the line feed at its end. The error, an internal one: read_store would not read it as it was given
/// (an empty name, a result that is too deep or not JSON on one line).
[[nodiscard]] Result<std::string> header_line(const CampaignDefinition& definition);
[[nodiscard]] Result<std::string> result_line(const CampaignCell& cell, std::string_view result);

/// Whether a store that keeps the parts of such a line apart may give them back: names that are not empty,
/// and a result that json_text would write like this. The error says what it is instead ("is not …").
[[nodiscard]] Status check_result(const CampaignCell& cell, std::string_view result);

/// The campaign that a store is of, for those that only read it: read_store takes it. Errors: as of that.
[[nodiscard]] Result<CampaignDefinition> definition_in(std::string_view text);

struct StoredCampaign {
  CampaignResults results;
  /// Bytes up to the end of the last whole line. What follows was cut when its process ended: to be removed.
  std::size_t whole_bytes = 0;
};

/// A text without any whole line is a store whose first line was cut, if it begins like it. Errors, which the
/// caller puts behind the file's name: other formats and versions, another definition, a damaged line.
[[nodiscard]] Result<StoredCampaign> read_store(std::string_view text, const CampaignDefinition& wanted);

}  // namespace driftscope
