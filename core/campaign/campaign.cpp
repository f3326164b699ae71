#include "core/campaign/campaign.hpp"

#include <fmt/format.h>

#include "core/base/json.hpp"
#include "core/base/text.hpp"

namespace driftscope {

Status MemoryStore::add(const CampaignCell& cell, std::string result) {
  results_.emplace(cell, std::move(result));
  return {};
}

CampaignCell cell_of(const Campaign& campaign, std::size_t target, std::int64_t item) {
  const auto kept = [](const std::string& name) { return valid_utf8(name) ? name : harmless(name); };
  return {kept(campaign.targets[target]), kept(campaign.name_of(item))};
}

Result<CampaignOutcome> run_campaign(const Campaign& campaign, CampaignStore& store,
                                     const CampaignProgress& progress) {
  CampaignOutcome outcome;
  outcome.errors.resize(campaign.targets.size());
  CampaignSchedule schedule(
      {.targets = campaign.targets.size(),
       .items = campaign.items,
       .known = [&](std::size_t target,
                    std::int64_t item) { return store.results().contains(cell_of(campaign, target, item)); },
       .budget = campaign.budget,
       .batch_seconds = campaign.batch_seconds},
      campaign.seconds());
  while (!campaign.stopped || !campaign.stopped()) {
    const auto batch = schedule.next(campaign.seconds());
    if (!batch) break;
    progress(schedule.step(batch->target));
    auto results = campaign.check(batch->target, batch->items);
    if (!results.ok()) {
      outcome.errors[batch->target] = std::move(results).error();
      schedule.give_up(batch->target);
      continue;
    }
    if (results->size() != batch->items.size())
      return internal_error(fmt::format("{} results for {} cells", results->size(), batch->items.size()));
    for (std::size_t i = 0; i < results->size(); ++i) {
      const CampaignCell cell = cell_of(campaign, batch->target, batch->items[i]);
      if (store.results().contains(cell))
        return internal_error(fmt::format("{}: two items have the name {}", cell.target, cell.item));
      DRIFTSCOPE_CHECK(store.add(cell, json_text((*results)[i])));
    }
    schedule.done(*batch, campaign.seconds());
  }
  outcome.finished = schedule.finished();
  return outcome;
}

}  // namespace driftscope
