#include "native/campaign/store_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "native/campaign/store_url.hpp"

namespace driftscope {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// "mysql" of "mysql://host", "s3" of "s3:x"; empty where it is rather a path: "a/b:c", "C:\x", "12:30".
std::string_view scheme_of(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  if (colon == std::string_view::npos || colon < 2 || !is_letter(spec.front())) return {};
  const std::string_view scheme = spec.substr(0, colon);
  const bool plain =
      std::ranges::all_of(scheme, [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '+'; });
  return plain ? scheme : std::string_view();
}

}  // namespace

void CampaignStoreTable::add(CampaignStoreKind kind) {
  kinds_.insert(std::ranges::upper_bound(kinds_, kind.order, {}, &CampaignStoreKind::order), std::move(kind));
}

std::string store_forms() {
  std::string text;
  const auto all = campaign_store_table().all();
  for (std::size_t i = 0; i < all.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 < all.size() ? ", " : " or ", all[i].form);
  return text;
}

Result<std::unique_ptr<CampaignStore>> open_campaign_store(const std::string& spec,
                                                           const CampaignDefinition& definition,
                                                           const CampaignStoreOptions& options) {
  const auto all = campaign_store_table().all();
  const auto own = std::ranges::find_if(
      all, [&](const CampaignStoreKind& kind) { return kind.owns != nullptr && kind.owns(spec); });
  if (own != all.end()) return own->open(spec, definition, options);
  const std::string_view scheme = scheme_of(spec);
  std::error_code ignored;
  if (!scheme.empty() && !std::filesystem::exists(spec, ignored))
    return bad_input(fmt::format(
        "--store {}: there is no kind of store {}; expected {}; a new file of this name is written "
        "./{}",
        in_quotes(shown_store(spec), 200), in_quotes(std::string(scheme) + ":"), store_forms(),
        std::string(scheme) + ":…"));
  const auto rest = std::ranges::find(all, nullptr, &CampaignStoreKind::owns);
  if (rest == all.end()) return internal_error("no kind of store takes files");
  return rest->open(spec, definition, options);
}

std::string file_store_spec(const std::filesystem::path& path) {
  const std::string text = path.string();
  return scheme_of(text).empty() ? text : "./" + text;
}

std::string shown_store(const std::string& spec) { return without_passwords(spec); }

}  // namespace driftscope
