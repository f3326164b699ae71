#include "native/host/hunt_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "core/base/json.hpp"
#include "core/base/json_fields.hpp"
#include "core/base/json_lists.hpp"
#include "core/hunt/blocks.hpp"
#include "core/hunt/judged.hpp"

namespace driftscope {
namespace {

using JudgedCell = documents::HuntCase;

/// A block whose process or machine was lost is begun once more.
constexpr int most_block_attempts = 2;
constexpr auto wait_for_blocks = std::chrono::milliseconds(250);

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class HuntJobs {
 public:
  HuntJobs(const HuntPlan& plan, HuntKeeper& keeper, CampaignStore& store)
      : plan_(plan),
        keeper_(keeper),
        store_(store),
        blocks_(plan.targets.size(), plan.cases,
                [this](std::size_t t, std::int64_t number) {
                  return store_.results().contains(name_of(t, number));
                }),
        begin_(clock_seconds()),
        waiting_(plan.targets.size()),
        errors_(plan.targets.size()) {}
  HuntJobs(const HuntJobs&) = delete;
  HuntJobs& operator=(const HuntJobs&) = delete;

  Result<std::vector<std::optional<Error>>> run() {
    // What runs when it is stopped is cancelled by the pool, as a hunt that judges here does.
    while (!plan_.stopped()) {
      DRIFTSCOPE_TRY(const bool all, submit());
      if (all && running_.empty()) break;
      show();
      DRIFTSCOPE_TRY(const std::vector<ProgramJobResult> ended, plan_.pool->wait(wait_for_blocks));
      for (const ProgramJobResult& result : ended) DRIFTSCOPE_CHECK(take(result));
      for (std::size_t t = 0; t < waiting_.size(); ++t) {
        const Status kept = keep_ready(t);
        if (!kept.ok() && kept.error().kind == ErrorKind::cancelled) return errors_;
        DRIFTSCOPE_CHECK(kept);
      }
    }
    return errors_;
  }

 private:
  struct Running {
    hunt::Block block;
    ProgramJob job;
    int attempt = 1;
  };

  [[nodiscard]] CampaignCell name_of(std::size_t target, std::int64_t number) const {
    return {plan_.names[target], hunt::case_name(number)};
  }

  /// Whether nothing more is to begin; without a worker it waits for one.
  Result<bool> submit() {
    while (plan_.pool->room() > 0) {
      // However short the time is: one block, so that the same command gets on each time.
      if (next_id_ > 1 && plan_.seconds && clock_seconds() - begin_ > *plan_.seconds) return true;
      const auto block = blocks_.next();
      if (!block) return true;
      waiting_[block->target][block->first] = {};
      DRIFTSCOPE_CHECK(start({*block, plan_.job(block->target, block->first, block->count)}));
    }
    return false;
  }

  Status start(Running one) {
    one.job.id = next_id_++;
    ProgramJob job = one.job;
    running_.emplace(job.id, std::move(one));
    return plan_.pool->submit(std::move(job));
  }

  Status take(const ProgramJobResult& result) {
    auto found = running_.extract(result.id);
    if (found.empty()) return {};
    Running& one = found.mapped();
    const std::size_t target = one.block.target;
    if (errors_[target]) return {};
    const bool lost = result.error && result.error->kind != ErrorKind::limit;
    if (lost && one.attempt < most_block_attempts) {
      ++one.attempt;
      return start(std::move(one));
    }
    auto cells = cells_of(one, result);
    if (!cells.ok()) {
      errors_[target] = std::move(cells).error();
      blocks_.give_up(target);
      return {};
    }
    blocks_.took(one.block, result.seconds);
    waiting_[target][one.block.first] = *std::move(cells);
    return {};
  }

  static Result<std::vector<JudgedCell>> cells_of(const Running& one, const ProgramJobResult& result) {
    if (result.error) return *result.error;
    if (result.exit_code != 0 || result.result.empty())
      return internal_error(result.errors.empty() ? fmt::format("exit code {}", result.exit_code.value_or(-1))
                                                  : result.errors);
    auto cells = read_hunt_block(result.result, one.block.count);
    if (!cells.ok()) return in_context(std::move(cells).error(), "the answer of " + result.worker);
    return cells;
  }

  /// Blocks of a target in the order of their cases: those behind one that is not there wait for it.
  Status keep_ready(std::size_t target) {
    auto& waiting = waiting_[target];
    for (auto block = waiting.begin(); block != waiting.end() && !block->second.empty();
         block = waiting.erase(block)) {
      std::int64_t number = block->first;
      for (JudgedCell& cell : block->second) {
        DRIFTSCOPE_CHECK(keeper_.keep_new_of(plan_.targets[target], number, cell));
        const nlohmann::json sorted = parse_json(json_text(encode(cell)));
        DRIFTSCOPE_CHECK(store_.add(name_of(target, number), json_text(sorted)));
        ++number, ++judged_;
      }
    }
    return {};
  }

  void show() const {
    const std::string about = plan_.pool->about();
    plan_.progress(fmt::format("{} cases; {}{}{} blocks run", judged_, about, about.empty() ? "" : ": ",
                               running_.size()),
                   plan_.cases ? judged_ : 0, plan_.cases ? *plan_.cases * std::ssize(plan_.targets) : 0);
  }

  const HuntPlan& plan_;
  HuntKeeper& keeper_;
  CampaignStore& store_;
  hunt::Blocks blocks_;
  double begin_;
  std::int64_t next_id_ = 1;
  std::int64_t judged_ = 0;                  ///< by this process
  std::map<std::int64_t, Running> running_;  // by the job's id
  /// By target and first case; empty: it runs.
  std::vector<std::map<std::int64_t, std::vector<JudgedCell>>> waiting_;
  std::vector<std::optional<Error>> errors_;
};

}  // namespace

Result<std::string> run_hunt_block(HuntCases& cases, const Target& target, std::int64_t first,
                                   std::int64_t count, const RunnerOptions& runner) {
  std::vector<HuntCase> block;
  for (std::int64_t number = first; number < first + count; ++number) {
    DRIFTSCOPE_TRY(HuntCase one, cases.at(number));
    block.push_back(std::move(one));
  }
  HuntJudge judge(cases.small(), runner, {});
  DRIFTSCOPE_TRY(const std::vector<JudgedCase> judged,
                 judge.judge(target, block, [](std::string_view, std::int64_t, std::int64_t) {}));
  nlohmann::ordered_json cells = nlohmann::ordered_json::array();
  for (const JudgedCase& one : judged) cells.push_back(encode(one.cell));
  return json_text(nlohmann::ordered_json{{"cells", std::move(cells)}});
}

Result<std::vector<JudgedCell>> read_hunt_block(std::string_view text, std::int64_t count) {
  DRIFTSCOPE_TRY(const nlohmann::ordered_json document, parse_document(text));
  std::vector<JudgedCell> cells;
  const JsonPath root;
  JsonFields fields(document, root);
  const auto* const list = fields.given("cells");
  if (list == nullptr || !list->is_array() || std::ssize(*list) != count)
    return bad_input(fmt::format("cells: expected a list of {}", count));
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string place = fmt::format("cells[{}]", i);
    const JsonPath path(place);
    JudgedCell& cell = cells.emplace_back();
    DRIFTSCOPE_CHECK(read_json((*list)[i], path, cell));
    constexpr std::array outcomes = {"right", "wrong", "refused", "failed", "lost"};
    if (std::ranges::find(outcomes, cell.outcome) == outcomes.end())
      return bad_input(place + ".outcome: expected right, wrong, refused, failed or lost");
    // Folders are made here.
    for (documents::HuntFound& found : cell.found) found.folder.reset(), found.reduced.reset();
  }
  return cells;
}

Result<std::vector<std::optional<Error>>> run_hunt_jobs(const HuntPlan& plan, HuntKeeper& keeper,
                                                        CampaignStore& store) {
  return HuntJobs(plan, keeper, store).run();
}

}  // namespace driftscope
