// Which run is right, where the runs of a recording differ (core/trace/repeat_check.hpp): the first differing
// layer of each is judged as the recorded run's is, from the same inputs. Client: verify.
#pragma once

#include <functional>
#include <string>

#include "core/verify/verify.hpp"

namespace driftscope {

/// Judges one layer: the output `value`, or this tensor in its place.
using JudgeValue = std::function<Result<Verdict>(ValueId value, const Tensor* instead)>;

/// Nothing where the trace says nothing of repeated runs.
[[nodiscard]] Result<std::optional<RepeatVerification>> judge_repeats(const Graph& graph,
                                                                      const TraceView& trace,
                                                                      const JudgeValue& judge);

/// The worst verdict on a later run's layer; missing without any.
[[nodiscard]] Verdict worst_later_verdict(const RepeatVerification& repeats);

/// "all 20 runs agree bit for bit (12 values each)", or "run 2 differs from run 1, first at conv1 (Conv): 17
/// of 4704 elements, by up to 0.5; run 1 is right: rounding, run 2 is wrong: fault; runs 2 to 20 agree".
[[nodiscard]] std::string repeats_text(const RepeatVerification& repeats);

}  // namespace driftscope
