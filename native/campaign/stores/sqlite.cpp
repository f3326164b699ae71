// A database in a file, for several processes of one machine.
#include "native/campaign/sqlite_store.hpp"
#include "native/campaign/store_kinds.hpp"

namespace driftscope::campaign_stores::sqlite {

static constexpr std::string_view scheme = "sqlite:";

static Result<std::unique_ptr<CampaignStore>> open(const std::string& spec,
                                                   const CampaignDefinition& definition,
                                                   const CampaignStoreOptions& /*options*/) {
  DRIFTSCOPE_TRY(auto store, SqliteStore::open(spec.substr(scheme.size()), definition));
  return std::unique_ptr<CampaignStore>(std::move(store));
}

void add_to(CampaignStoreTable& table) {
  table.add({.order = 20,
             .form = "sqlite:FILE.db",
             .owns = [](std::string_view spec) { return spec.starts_with(scheme); },
             .open = open});
}

}  // namespace driftscope::campaign_stores::sqlite
