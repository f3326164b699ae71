#include "native/cli/conformance_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/runtime/engine.hpp"
#include "core/verify/expectation.hpp"

namespace driftscope {
namespace {

CaseResult from_error(const Error& error) {
  return {error.kind == ErrorKind::unsupported ? Outcome::unsupported : Outcome::failed,
          error.message,
          {},
          {},
          {}};
}

void verify_set(const Result<Trace>& trace, const ConformanceSet& set, CaseResult& result) {
  if (result.outcome != Outcome::passed) return;
  if (!trace.ok()) {
    result = from_error(trace.error());
    return;
  }
  for (const NamedTensor& wanted : set.wanted) {
    const Tensor* got = trace->find(wanted.name);
    const auto wrong =
        got == nullptr ? std::optional<std::string>("it was not made") : disagreement(*got, wanted.tensor);
    if (wrong) {
      result.outcome = Outcome::failed;
      result.reason = fmt::format("output {}: {}", wanted.name, *wrong);
      return;
    }
    result.outputs.push_back(*got);
  }
}

// The same bits on every host; results of other engines depend on the processor.
bool promises_bits(std::string_view engine) {
  const auto found = find_engine(engine);
  return found.ok() && (*found)->info().same_bits_everywhere;
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) {
    return x.shape() == y.shape() && std::ranges::equal(x.bytes(), y.bytes());
  });
}

}  // namespace

TargetResults run_conformance_cases(TargetRunner& runner, const Target& target,
                                    const std::vector<ConformanceCase>& cases,
                                    const TargetProgress& progress) {
  TargetResults results{target, {}, {}};
  messages::RunPlan outputs_only;
  outputs_only.capture = messages::Capture::outputs;
  std::vector<RunRequest> requests;
  for (const ConformanceCase& one : cases)
    if (!one.unusable)
      for (const ConformanceSet& set : one.sets)
        requests.push_back({.model = &one.model, .inputs = set.inputs, .plan = outputs_only});
  auto runs = runner.run_all(target, requests, progress);
  if (!runs.ok()) {
    results.error = std::move(runs).error();
    return results;
  }
  std::size_t next = 0;
  for (const ConformanceCase& one : cases) {
    CaseResult& result = results.cases.emplace_back();
    if (one.unusable) {
      result = from_error(*one.unusable);
      continue;
    }
    for (const ConformanceSet& set : one.sets) {
      const CaseRun& run = (*runs)[next++];
      verify_set(run.trace, set, result);
      if (run.lost_before) result.lost_before = run.lost_before->message;
    }
  }
  return results;
}

void compare_bits(std::vector<TargetResults>& all) {
  for (std::size_t t = 1; t < all.size(); ++t) {
    if (!promises_bits(all[t].target.engine)) continue;
    const auto first = std::find_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(t),
                                    [&](const TargetResults& other) {
                                      return !other.error && other.target.engine == all[t].target.engine;
                                    });
    if (first == all.begin() + static_cast<std::ptrdiff_t>(t) || all[t].error) continue;
    for (std::size_t i = 0; i < all[t].cases.size(); ++i)
      if (all[t].cases[i].outcome == Outcome::passed && first->cases[i].outcome == Outcome::passed)
        all[t].cases[i].same_bits = same_bits(all[t].cases[i].outputs, first->cases[i].outputs);
  }
}

}  // namespace driftscope
