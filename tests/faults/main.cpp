// How many planted faults the verdict finds, by family.
//
//   driftscope_faults [--seeds N] [--family TEXT] [--kind TEXT] [--json] [--list] [--threads N]
//   driftscope_faults --clean LAYERS [--first-seed N]  so many correct layers: no alarm
//   driftscope_faults --alibis [--kind TEXT] [--seeds N]  correct implementations: none a fault
//   driftscope_faults --minimum-errors [--seeds N]    the table of docs/sensitivity.md
//
// Exit code 1: an alarm on a control or an alibi, a fault charged to another layer, a wrong cause, or fewer
// of the judgeable faults at the right layer, or of the causes in the catalogue named, than required.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.hpp"
#include "tests/faults/alibis.hpp"
#include "tests/faults/causes.hpp"
#include "tests/faults/clean_layers.hpp"
#include "tests/faults/judge.hpp"
#include "tests/faults/known_misses.hpp"
#include "tests/faults/minimum_errors.hpp"

namespace {

using namespace driftscope;
using namespace driftscope::faults;

struct Options {
  std::uint64_t seeds = 1;
  std::uint64_t first_seed = 1;
  std::string family, kind;
  bool json = false, list = false, minimum = false, alibis = false;
  std::uint64_t clean = 0;
};

constexpr double named_asked_for = 0.9;  // required share of the causes in the catalogue
constexpr double asked_for = 0.99;       // required share of the judgeable ones at the right layer

/// False after a usage message.
bool parse(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const bool more = i + 1 < count;
    if (argument == "--seeds" && more)
      options.seeds = std::strtoull(arguments[++i], nullptr, 10);
    else if (argument == "--first-seed" && more)
      options.first_seed = std::strtoull(arguments[++i], nullptr, 10);
    else if (argument == "--family" && more)
      options.family = arguments[++i];
    else if (argument == "--kind" && more)
      options.kind = arguments[++i];
    else if (argument == "--json")
      options.json = true;
    else if (argument == "--list")
      options.list = true;
    else if (argument == "--clean" && more)
      options.clean = std::strtoull(arguments[++i], nullptr, 10);
    else if (argument == "--alibis")
      options.alibis = true;
    else if (argument == "--minimum-errors")
      options.minimum = true;
    else {
      fmt::print(stderr,
                 "usage: driftscope_faults [--seeds N] [--first-seed N] [--family TEXT] [--kind TEXT] "
                 "[--json] [--list] [--clean LAYERS] [--minimum-errors] [--alibis]\n");
      return false;
    }
  }
  return true;
}

struct Score {
  std::map<Outcome, int> counts;
  int known_misses = 0;
  int causes = 0;  // of faults at the right layer, those whose cause is in the catalogue
  int named = 0;   // of these, those whose cause is named
  int kinds = 0;
  int cases = 0;
  [[nodiscard]] int of(Outcome outcome) const {
    const auto found = counts.find(outcome);
    return found == counts.end() ? 0 : found->second;
  }
  /// Those that can be judged.
  [[nodiscard]] int judgeable() const {
    return cases - of(Outcome::no_effect) - of(Outcome::unjudgeable) - of(Outcome::broken);
  }
  void add(const Score& other) {
    for (const auto& [outcome, number] : other.counts) counts[outcome] += number;
    known_misses += other.known_misses;
    causes += other.causes;
    named += other.named;
    kinds += other.kinds;
    cases += other.cases;
  }
};

void print_row(const std::string& name, const Score& score) {
  fmt::print("{:<22} {:>5} {:>6} {:>6} {:>8} {:>9} {:>12} {:>10} {:>7} {:>6} {:>6} {:>6} {:>7}\n", name,
             score.kinds, score.cases, score.of(Outcome::right_layer), score.of(Outcome::suspect),
             score.of(Outcome::unjudged), score.of(Outcome::unjudgeable), score.of(Outcome::no_effect),
             score.of(Outcome::missed), score.known_misses, score.of(Outcome::wrong_layer),
             score.of(Outcome::wrong_cause), score.of(Outcome::clean_alarm));
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  if (!parse(count, arguments, options)) return 2;
  const auto begin = std::chrono::steady_clock::now();
  ThreadPool threads(usable_processors());
  if (options.clean > 0) return judge_clean_layers(options.clean, options.first_seed, threads) ? 0 : 1;
  if (options.minimum) return fmt::print("{}", minimum_errors(options.seeds, threads)), 0;
  if (options.alibis) return judge_alibis(options.kind, options.seeds, false, threads) ? 0 : 1;
  std::map<std::string, Score> families;
  auto cases = nlohmann::ordered_json::array();
  std::vector<std::string> worth_a_look;
  for (const FaultKind& kind : fault_table().kinds()) {
    if (kind.family.find(options.family) == std::string::npos ||
        kind.name.find(options.kind) == std::string::npos)
      continue;
    if (options.list) {
      fmt::print("{:<22} {}\n", kind.family, kind.name);
      continue;
    }
    Score& score = families[kind.family];
    ++score.kinds;
    for (std::uint64_t seed = options.first_seed; seed < options.first_seed + options.seeds; ++seed) {
      const Judged judged = judge(kind, seed, threads);
      ++score.cases;
      ++score.counts[judged.outcome];
      if (judged.outcome == Outcome::right_layer && !expected_cause(kind.name).empty()) {
        ++score.causes;
        if (!judged.cause.empty())
          ++score.named;
        else
          worth_a_look.push_back(fmt::format("  not named    {} (seed {})", kind.name, seed));
      }
      const bool passed = judged.outcome == Outcome::missed || judged.outcome == Outcome::suspect;
      const std::string* known = passed ? known_miss(kind.name) : nullptr;
      if (known != nullptr) ++score.known_misses;
      cases.push_back({{"family", kind.family},
                       {"kind", kind.name},
                       {"seed", seed},
                       {"outcome", outcome_name(judged.outcome)},
                       {"effect", std::isfinite(judged.effect) ? judged.effect : 1e308},
                       {"budget_used", std::isfinite(judged.budget_used) ? judged.budget_used : 1e308},
                       {"detail", judged.detail}});
      if (judged.outcome != Outcome::right_layer && judged.outcome != Outcome::unjudgeable &&
          known == nullptr)
        worth_a_look.push_back(fmt::format(
            "  {:<12} {} (seed {}): {:.3g} × the budget, {:.3g} × the spread; {}",
            outcome_name(judged.outcome), kind.name, seed, judged.budget_used, judged.effect, judged.detail));
    }
  }
  if (options.list) return 0;
  Score all;
  for (const auto& [name, score] : families) all.add(score);
  if (options.json) {
    fmt::print("{}\n", json_text(cases, 1));
  } else {
    fmt::print("{:<22} {:>5} {:>6} {:>6} {:>8} {:>9} {:>12} {:>10} {:>7} {:>6} {:>6} {:>6} {:>7}\n", "family",
               "kinds", "cases", "right", "suspect", "unjudged", "unjudgeable", "no effect", "missed",
               "known", "wrong", "cause", "alarms");
    for (const auto& [name, score] : families) print_row(name, score);
    print_row("all", all);
    for (const std::string& line : worth_a_look) fmt::print("{}\n", line);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const int judgeable = all.judgeable() - all.known_misses;
  const double share =
      judgeable > 0 ? static_cast<double>(all.of(Outcome::right_layer)) / static_cast<double>(judgeable)
                    : 1.0;
  fmt::print(stderr, "{} of {} judgeable faults at the right layer: {:.2f} %; {:.1f} s\n",
             all.of(Outcome::right_layer), judgeable, 100.0 * share, took.count());
  const double named = all.causes > 0 ? static_cast<double>(all.named) / all.causes : 1.0;
  fmt::print(stderr,
             "{} of {} causes that are in the catalogue named: {:.2f} %; {} of {} others named wrongly\n",
             all.named, all.causes, 100.0 * named, all.of(Outcome::wrong_cause),
             all.of(Outcome::right_layer) + all.of(Outcome::wrong_cause) - all.causes);
  const bool whole = options.family.empty() && options.kind.empty() && !options.json;
  const bool believed = !whole || judge_alibis("", options.seeds, true, threads);
  const bool harm = all.of(Outcome::clean_alarm) + all.of(Outcome::wrong_layer) +
                        all.of(Outcome::wrong_cause) + all.of(Outcome::broken) >
                    0;
  return !believed || harm || share < asked_for || named < named_asked_for ? 1 : 0;
}
