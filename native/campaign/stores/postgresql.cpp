// A database of a server, for several machines.
#include "native/campaign/postgres_store.hpp"
#include "native/campaign/store_kinds.hpp"

namespace driftscope::campaign_stores::postgresql {

static Result<std::unique_ptr<CampaignStore>> open(const std::string& spec,
                                                   const CampaignDefinition& definition,
                                                   const CampaignStoreOptions& options) {
  DRIFTSCOPE_TRY(auto store, PostgresStore::open(spec, definition, {}, options.notice));
  return std::unique_ptr<CampaignStore>(std::move(store));
}

void add_to(CampaignStoreTable& table) {
  table.add({.order = 30,
             .form = "postgresql://USER@HOST/DATABASE",
             .owns =
                 [](std::string_view spec) {
                   return spec.starts_with("postgresql://") || spec.starts_with("postgres://");
                 },
             .open = open});
}

}  // namespace driftscope::campaign_stores::postgresql
