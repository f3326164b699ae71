// A file to which lines are only ever added.
#include "native/campaign/file_store.hpp"
#include "native/campaign/store_kinds.hpp"

namespace driftscope::campaign_stores::file {

static Result<std::unique_ptr<CampaignStore>> open(const std::string& spec,
                                                   const CampaignDefinition& definition,
                                                   const CampaignStoreOptions& /*options*/) {
  DRIFTSCOPE_TRY(FileStore store, FileStore::open(spec, definition));
  return std::unique_ptr<CampaignStore>(new FileStore(std::move(store)));
}

void add_to(CampaignStoreTable& table) { table.add({.order = 10, .form = "FILE", .open = open}); }

}  // namespace driftscope::campaign_stores::file
