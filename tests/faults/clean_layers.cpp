#include "tests/faults/clean_layers.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "core/runtime/bind_inputs.hpp"
#include "core/trace/record.hpp"
#include "core/verify/verify.hpp"
#include "tests/faults/judge.hpp"
#include "tests/faults/network.hpp"

namespace driftscope::faults {
namespace {

/// A trace by an engine; nothing if it does not support the network.
std::optional<Trace> run_on(const std::string& engine_name, const Network& network, Capture capture) {
  auto bound = bind_inputs(network.graph, network.inputs);
  const auto engine = find_engine(engine_name);
  if (!bound.ok() || !engine.ok()) return std::nullopt;
  EngineOptions options;
  options.threads = 1;
  options.fuse = capture != Capture::all;
  const auto session = (*engine)->prepare(bound->graph, options);
  if (!session.ok()) return std::nullopt;
  auto trace = record(bound->graph, **session, bound->inputs, {.capture = capture});
  if (!trace.ok()) return std::nullopt;
  trace->target = "pc/" + engine_name;
  return *std::move(trace);
}

struct Counts {
  std::map<Verdict, std::uint64_t> by_verdict;
  std::uint64_t layers = 0;
  std::uint64_t overflowed = 0;  ///< infinite or NaN where the exact result is not: rightly suspect
  std::set<std::string> alarms;

  void add(const Verification& verification, const std::string& where) {
    for (const LayerVerdict& layer : verification.layers) {
      ++layers;
      if (layer.verdict == Verdict::suspect &&
          reason_of(layer).find("an intermediate result leaves the range") != std::string::npos) {
        ++overflowed;
        continue;
      }
      ++by_verdict[layer.verdict];
      if (layer.verdict == Verdict::suspect || layer.verdict == Verdict::fault)
        alarms.insert(
            fmt::format("{}: {} ({}) is a {}: {:.3g} × the budget, {:.3g} × the statistical one; {}", where,
                        layer.node, layer.op, verdict_name(layer.verdict), layer.budget_used,
                        layer.budget_used_statistical, reason_of(layer)));
    }
  }
};

}  // namespace

bool judge_clean_layers(std::uint64_t layers, std::uint64_t first_seed, ThreadPool& threads) {
  Counts counts;
  for (std::uint64_t seed = first_seed; counts.layers < layers; ++seed)
    for (const FaultKind& kind : fault_table().kinds()) {
      if (counts.layers >= layers) break;
      for (const double scale : {1.0, 1e-20, 1e-6, 1e6, 1e20}) {
        Rng rng(seed);
        Network network = kind.network(rng);
        bool scalable = true;
        for (NamedTensor& given : network.inputs) {
          scalable = scalable && given.tensor.dtype() == DType::float32;
          if (scalable && scale != 1.0) given.tensor = scaled(scale)(given.tensor);
        }
        if (scale != 1.0 && !scalable) continue;
        const auto judged = [&](const std::string& way, const std::optional<Trace>& trace) {
          if (!trace) return;
          const auto verification = verify(network.graph, "", *trace, threads);
          if (verification.ok())
            counts.add(*verification, fmt::format("{}, seed {}, × {:g}, {}", kind.name, seed, scale, way));
        };
        const auto recorded = [&](const Fault& way) -> std::optional<Trace> {
          auto trace = record_network(network, way, way);
          return trace.ok() ? std::optional(*std::move(trace)) : std::nullopt;
        };
        judged("strict", recorded(run_strict));
        judged("double", recorded(run_in_double));
        judged("fast", run_on("fast", network, Capture::all));
        judged("fast, fused", run_on("fast", network, Capture::fused));
      }
    }
  fmt::print("{} layers:", counts.layers);
  for (const auto& [verdict, number] : counts.by_verdict) fmt::print(" {} {}", number, verdict_name(verdict));
  fmt::print(", {} overflowed on the way\n", counts.overflowed);
  for (const std::string& alarm : counts.alarms) fmt::print("  {}\n", alarm);
  constexpr std::uint64_t per_suspect = 100'000;
  return counts.by_verdict[Verdict::fault] == 0 &&
         counts.by_verdict[Verdict::suspect] * per_suspect <= counts.layers;
}

}  // namespace driftscope::faults
