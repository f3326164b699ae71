#include "tests/faults/alibis.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "core/verify/verify.hpp"
#include "tests/faults/judge.hpp"
#include "tests/faults/network.hpp"

namespace driftscope::faults {

bool judge_alibis(const std::string& filter, std::uint64_t seeds, bool quiet, ThreadPool& threads) {
  std::size_t ways = 0, layers = 0, alarms = 0;
  for (const FaultKind& kind : alibi_table().kinds()) {
    if (kind.name.find(filter) == std::string::npos) continue;
    ++ways;
    double used = 0.0;
    std::map<Verdict, int> verdicts;
    std::set<std::string> notes;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      Rng rng(seed);
      const Network network = kind.network(rng);
      const auto trace = record_network(network, run_strict, kind.fault);
      if (!trace.ok()) {
        fmt::print("{}: {}\n", kind.name, trace.error().message);
        ++alarms;
        break;
      }
      const auto verification = verify(network.graph, "", *trace, threads);
      if (!verification.ok()) {
        fmt::print("{}: {}\n", kind.name, verification.error().message);
        ++alarms;
        break;
      }
      for (const LayerVerdict& layer : verification->layers) {
        if (layer.node != "target") continue;
        ++layers;
        ++verdicts[layer.verdict];
        used = std::fmax(used, layer.budget_used);
        if (!layer.findings.empty()) notes.insert(reason_of(layer));
      }
    }
    const int bad = verdicts[Verdict::fault] + verdicts[Verdict::suspect];
    alarms += static_cast<std::size_t>(bad);
    if (quiet && bad == 0) continue;
    std::string text;
    for (const auto& [verdict, number] : verdicts)
      if (number > 0) text += fmt::format(" {} {}", number, verdict_name(verdict));
    fmt::print("{:<52} {:>8.3g} × the budget {}{}\n", kind.name, used, text,
               notes.empty() ? "" : "; " + *notes.begin());
  }
  fmt::print(stderr, "{} correct ways, {} layers, {} alarms\n", ways, layers, alarms);
  return alarms == 0;
}

}  // namespace driftscope::faults
