#include "tests/faults/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/eval/evaluate.hpp"
#include "core/trace/trace.hpp"
#include "core/verify/verify.hpp"
#include "tests/faults/causes.hpp"

namespace driftscope::faults {
namespace {

ThreadPool& one_thread() {
  static ThreadPool pool(1);
  return pool;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && std::ranges::equal(a.bytes(), b.bytes());
}

/// The first layer that is suspect or a fault, other than `except`; "" when there is none.
std::string alarm(const Verification& verification, const std::string& except = "") {
  for (const LayerVerdict& layer : verification.layers)
    if ((layer.verdict == Verdict::suspect || layer.verdict == Verdict::fault) && layer.node != except)
      return fmt::format("{} is a {}: {:.3g} × the budget, {}", layer.node, verdict_name(layer.verdict),
                         layer.budget_used, reason_of(layer));
  return "";
}

/// Largest error of `got` relative to the spread of correct implementations: the largest error that any of
/// them has, and the distance of two adjacent numbers.
double effect_of(const Tensor& got, const std::vector<Tensor>& correct, const std::vector<double>& exact) {
  double spread = 0.0;
  for (const Tensor& one : correct) {
    const auto values = lift_values<double>(one);
    for (std::size_t i = 0; i < exact.size(); ++i)
      spread = std::fmax(spread, std::fabs(values[i] - exact[i]));
  }
  const auto values = lift_values<double>(got);
  const double unit = got.dtype() == DType::float16    ? 0x1p-10
                      : got.dtype() == DType::bfloat16 ? 0x1p-7
                                                       : 0x1p-23;
  double largest = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (std::isnan(values[i]) != std::isnan(exact[i])) return INFINITY;
    if (std::isnan(exact[i]) || values[i] == exact[i]) continue;
    const double error = std::fabs(values[i] - exact[i]);
    largest = std::fmax(largest, error / (spread + unit * std::fabs(exact[i]) + 0x1p-149));
  }
  return largest;
}

Result<std::vector<Evaluated<double>>> in_double(const NodeRun& run) {
  std::vector<Evaluated<double>> lifted;
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    if (run.node.reads()[i] == no_value) {
      lifted.emplace_back();
      continue;
    }
    DRIFTSCOPE_TRY(auto value, lift<double>(run.inputs[i]));
    lifted.push_back(std::move(value));
  }
  std::vector<const Evaluated<double>*> pointers;
  for (const auto& value : lifted) pointers.push_back(value.dtype == DType::undefined ? nullptr : &value);
  return evaluate<double>(run.node, pointers, one_thread());
}

}  // namespace

Result<Trace> record_network(const Network& network, const Fault& right, const Fault& other, NodeRun* seen) {
  const Graph& graph = network.graph;
  std::vector<Tensor> values(graph.values.size());
  Trace trace;
  trace.target = "file/planted";
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    if (graph.values[v].constant) values[v] = *graph.values[v].constant;
  for (const NamedTensor& given : network.inputs) {
    values[*graph.find_value(given.name)] = given.tensor;
    trace.tensors.push_back(given);
  }
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    NodeRun run{graph.nodes[id], {}};
    for (const ValueId read : run.node.reads())
      run.inputs.push_back(read == no_value ? Tensor() : values[read]);
    if (id == network.target && seen != nullptr) *seen = run;
    DRIFTSCOPE_TRY(const Tensors outputs, (id == network.target ? other : right)(run));
    for (std::size_t o = 0; o < run.node.outputs.size() && o < outputs.size(); ++o) {
      const ValueId value = run.node.outputs[o];
      if (value == no_value) continue;
      values[value] = outputs[o];
      trace.tensors.push_back({graph.values[value].name, outputs[o]});
    }
    trace.nodes.push_back({run.node.name, run.node.op_type, {}, {}});
  }
  return trace;
}

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::right_layer: return "right layer";
    case Outcome::suspect: return "suspect";
    case Outcome::unjudged: return "unjudged";
    case Outcome::no_effect: return "no effect";
    case Outcome::unjudgeable: return "unjudgeable";
    case Outcome::missed: return "missed";
    case Outcome::wrong_layer: return "wrong layer";
    case Outcome::wrong_cause: return "wrong cause";
    case Outcome::clean_alarm: return "clean alarm";
    case Outcome::broken: break;
  }
  return "broken";
}

Result<Tensors> run_strict(const NodeRun& run) {
  std::vector<const Tensor*> pointers;
  for (std::size_t i = 0; i < run.inputs.size(); ++i)
    pointers.push_back(run.node.reads()[i] == no_value ? nullptr : &run.inputs[i]);
  return evaluate_strict(run.node, pointers, one_thread());
}

Result<Tensors> run_in_double(const NodeRun& run) {
  DRIFTSCOPE_TRY(auto results, in_double(run));
  Tensors outputs;
  for (const Evaluated<double>& result : results) {
    if (result.dtype == DType::undefined) {
      outputs.emplace_back();
      continue;
    }
    DRIFTSCOPE_TRY(Tensor rounded, lower(result));
    outputs.push_back(std::move(rounded));
  }
  return outputs;
}

namespace {

/// The faulty variant that explains the target; empty without any.
std::string cause_of(const Verification& verification) {
  for (const LayerVerdict& layer : verification.layers)
    for (const Finding& finding : layer.findings)
      if (layer.node == "target" && !std::isnan(finding.number("budget_after")) &&
          finding.family() != "algorithm")
        return finding.id;
  return {};
}

}  // namespace

Judged judge(const FaultKind& kind, std::uint64_t seed, ThreadPool& threads) {
  Rng rng(seed);
  const Network network = kind.network(rng);
  const auto broken = [](const std::string& why) { return Judged{Outcome::broken, 0.0, 0.0, why}; };
  NodeRun target;
  const auto strict = record_network(network, run_strict, run_strict, &target);
  if (!strict.ok()) return broken("strict: " + strict.error().message);
  const auto rounded = record_network(network, run_in_double, run_in_double);
  if (!rounded.ok()) return broken("double: " + rounded.error().message);
  for (const Trace* control : {&*strict, &*rounded}) {
    const auto verified = verify(network.graph, "", *control, threads);
    if (!verified.ok()) return broken("control: " + verified.error().message);
    if (const std::string what = alarm(*verified); !what.empty())
      return {Outcome::clean_alarm, 0.0, 0.0, (control == &*strict ? "strict: " : "double: ") + what};
  }
  const auto faulty = record_network(network, run_strict, kind.fault);
  if (!faulty.ok()) return broken("fault: " + faulty.error().message);
  const auto verified = verify(network.graph, "", *faulty, threads);
  if (!verified.ok()) return broken("verify: " + verified.error().message);
  if (const std::string what = alarm(*verified, "target"); !what.empty())
    return {Outcome::wrong_layer, 0.0, 0.0, what};
  Judged judged;
  Verdict verdict = Verdict::missing;
  for (const LayerVerdict& layer : verified->layers) {
    if (layer.node != "target" || layer.verdict == Verdict::missing) continue;
    verdict = worse_of(verdict, layer.verdict);
    judged.budget_used = std::fmax(judged.budget_used, layer.budget_used);
    if (!layer.findings.empty()) judged.detail = reason_of(layer);
  }
  if (verdict == Verdict::fault) {
    const std::string expected = expected_cause(kind.name);
    judged.cause = cause_of(*verified);
    judged.outcome =
        judged.cause.empty() || judged.cause == expected ? Outcome::right_layer : Outcome::wrong_cause;
    if (judged.outcome == Outcome::wrong_cause)
      judged.detail =
          fmt::format("{} for {}: {}", judged.cause, expected.empty() ? "none" : expected, judged.detail);
    return judged;
  }
  // It passed, or nearly: did the fault have an effect that correct implementations do not have?
  const auto exact = in_double(target);
  const auto wrong = kind.fault(target);
  if (!exact.ok() || !wrong.ok()) return broken("it cannot be run again");
  std::vector<Tensors> correct;
  std::vector<Fault> ways = {run_strict, run_in_double};
  ways.insert(ways.end(), kind.alternatives.begin(), kind.alternatives.end());
  for (const Fault& way : ways) {
    auto outputs = way(target);
    if (!outputs.ok()) return broken("an alternative: " + outputs.error().message);
    correct.push_back(*std::move(outputs));
  }
  bool differs = false;
  for (std::size_t o = 0; o < wrong->size(); ++o) {
    const Tensor& got = (*wrong)[o];
    if (same_bits(got, correct.front()[o])) continue;
    differs = true;
    std::vector<Tensor> others;
    for (const Tensors& outputs : correct) others.push_back(outputs.at(o));
    const bool comparable =
        is_floating(got.dtype()) && got.shape() == others.front().shape() && !is_known((*exact)[o]);
    judged.effect =
        std::fmax(judged.effect, comparable ? effect_of(got, others, (*exact)[o].real) : INFINITY);
  }
  judged.outcome = !differs                         ? Outcome::no_effect
                   : judged.effect < judgeable_from ? Outcome::unjudgeable
                   : verdict == Verdict::suspect    ? Outcome::suspect
                   : verdict == Verdict::unjudged   ? Outcome::unjudged
                                                    : Outcome::missed;
  return judged;
}

}  // namespace driftscope::faults
