#include "core/campaign/campaign.hpp"

#include <fmt/format.h>

#include "core/base/json.hpp"
#include "core/base/text.hpp"

namespace driftscope {

Status MemoryStore::add(const CampaignCell& cell, std::string result) {
  results_.emplace(cell, std::move(result));
  return {};
}

Status MemoryStore::remove(std::span<const CampaignCell> cells) {
  for (const CampaignCell& cell : cells) results_.erase(cell);
  return {};
}

CampaignCell cell_of(const Campaign& campaign, std::size_t target, std::int64_t item) {
  const auto kept = [](const std::string& name) { return valid_utf8(name) ? name : harmless(name); };
  return {kept(campaign.targets[target]), kept(campaign.name_of(item))};
}

CampaignRun::CampaignRun(const Campaign& campaign, CampaignStore& store)
    : campaign_(campaign),
      store_(store),
      schedule_({.targets = campaign.targets.size(),
                 .items = campaign.items,
                 .known =
                     [this](std::size_t target, std::int64_t item) {
                       return store_.results().contains(cell_of(campaign_, target, item));
                     },
                 .budget = campaign.budget,
                 .batch_seconds = campaign.batch_seconds},
                campaign.seconds()) {}

Status CampaignRun::done(const CampaignBatch& batch, std::span<const nlohmann::json> results) {
  if (results.size() != batch.items.size())
    return internal_error(fmt::format("{} results for {} cells", results.size(), batch.items.size()));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const CampaignCell cell = cell_of(campaign_, batch.target, batch.items[i]);
    if (store_.results().contains(cell))
      return internal_error(fmt::format("{}: two items have the name {}", cell.target, cell.item));
    DRIFTSCOPE_CHECK(store_.add(cell, json_text(results[i])));
  }
  schedule_.done(batch, campaign_.seconds());
  return {};
}

Result<CampaignOutcome> run_campaign(const Campaign& campaign, CampaignStore& store,
                                     const CampaignProgress& progress) {
  CampaignOutcome outcome;
  outcome.errors.resize(campaign.targets.size());
  CampaignRun run(campaign, store);
  while (!campaign.stopped || !campaign.stopped()) {
    const auto batch = run.next();
    if (!batch) break;
    progress(run.step(batch->target));
    auto results = campaign.check(batch->target, batch->items);
    if (results.ok()) {
      DRIFTSCOPE_CHECK(run.done(*batch, *results));
      continue;
    }
    outcome.errors[batch->target] = std::move(results).error();
    run.give_up(batch->target);
  }
  outcome.finished = run.finished();
  return outcome;
}

}  // namespace driftscope
