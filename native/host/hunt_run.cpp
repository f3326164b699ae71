#include "native/host/hunt_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "core/hunt/judged.hpp"
#include "native/host/hunt_jobs.hpp"
#include "native/host/hunt_keep.hpp"

namespace driftscope {
namespace {

class HuntRun {
 public:
  HuntRun(HuntCases& cases, const HuntPlan& plan, CampaignStore& store)
      : cases_(cases),
        plan_(plan),
        store_(store),
        judge_(cases.small(), plan.runner, plan.stopped),
        keeper_(cases, plan, judge_) {}

  HuntRun(const HuntRun&) = delete;
  HuntRun& operator=(const HuntRun&) = delete;

  Status run(documents::Hunt& hunt) {
    const hunt::HuntTargets names = names_of_targets();
    DRIFTSCOPE_CHECK(hunt::summarize(store_.results(), names, hunt));
    keeper_.know(hunt);
    DRIFTSCOPE_TRY(const auto errors,
                   plan_.pool != nullptr ? run_hunt_jobs(plan_, keeper_, store_) : run_cases());
    DRIFTSCOPE_CHECK(hunt::summarize(store_.results(), names, hunt));
    for (std::size_t t = 0; t < errors.size(); ++t)
      if (errors[t]) hunt.targets[t].error = errors[t]->message;
    return {};
  }

 private:
  [[nodiscard]] bool stopped() const { return plan_.stopped && plan_.stopped(); }

  hunt::HuntTargets names_of_targets() const {
    hunt::HuntTargets names{plan_.names, {}};
    for (const Target& target : plan_.targets) names.names.push_back(target.text());
    return names;
  }

  /// By target, why nothing more of it was run. What was judged before it is stopped is kept.
  Result<std::vector<std::optional<Error>>> run_cases() {
    Campaign campaign;
    campaign.targets = plan_.names;
    campaign.name_of = hunt::case_name;
    campaign.items = plan_.cases;
    campaign.budget.seconds = plan_.seconds;
    campaign.seconds = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    // A browser is opened for each batch: it shall run for longer than it takes to open.
    constexpr double batch_seconds = 20.0;
    campaign.batch_seconds = batch_seconds;
    std::vector<std::optional<Error>> errors(plan_.targets.size());
    CampaignRun run(campaign, store_);
    while (!stopped()) {
      auto batch = run.next();
      if (!batch) break;
      step_ = run.step(batch->target);
      DRIFTSCOPE_TRY(const std::vector<HuntCase> cases, cases_of(batch->items));
      const Target& target = plan_.targets[batch->target];
      auto judged =
          judge_.judge(target, cases, [&](std::string_view step, std::int64_t done, std::int64_t total) {
            plan_.progress(fmt::format("{} cases; {}: {}", step_.done, target.text(), step), done, total);
          });
      if (!judged.ok()) {
        if (judged.error().kind == ErrorKind::cancelled) break;
        errors[batch->target] = std::move(judged).error();
        run.give_up(batch->target);
        continue;
      }
      DRIFTSCOPE_TRY(const std::vector<nlohmann::json> cells, kept(*batch, cases, *std::move(judged)));
      batch->items.resize(cells.size());
      DRIFTSCOPE_CHECK(run.done(*batch, cells));
    }
    return errors;
  }

  Result<std::vector<HuntCase>> cases_of(std::span<const std::int64_t> numbers) {
    std::vector<HuntCase> cases;
    for (const std::int64_t number : numbers) {
      DRIFTSCOPE_TRY(HuntCase one, cases_.at(number));
      cases.push_back(std::move(one));
    }
    return cases;
  }

  /// As many as could be kept until it was stopped. Errors: of this PC, such as files.
  Result<std::vector<nlohmann::json>> kept(const CampaignBatch& batch, std::span<const HuntCase> cases,
                                           std::vector<JudgedCase> all) {
    std::vector<nlohmann::json> cells;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Status kept = keeper_.keep_new(plan_.targets[batch.target], batch.items[i], cases[i], all[i]);
      if (!kept.ok() && kept.error().kind == ErrorKind::cancelled) break;
      DRIFTSCOPE_CHECK(kept);
      cells.push_back(nlohmann::json::parse(encode(all[i].cell).dump()));
    }
    return cells;
  }

  HuntCases& cases_;
  const HuntPlan& plan_;
  CampaignStore& store_;
  HuntJudge judge_;
  HuntKeeper keeper_;
  CampaignStep step_;
};

}  // namespace

Status run_hunt(HuntCases& cases, const HuntPlan& plan, CampaignStore& store, documents::Hunt& hunt) {
  return HuntRun(cases, plan, store).run(hunt);
}

}  // namespace driftscope
