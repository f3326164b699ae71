// Why do two targets answer one input differently: which layer separates them? The first whose result
// rounding does not explain; if there is none, the layer whose own rounding moves the answer furthest. Pure
// functions of traces; nothing here runs a model. Client: native/host/attack_separation.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/gradient/sensitivity.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

struct AnswerSeparation {
  bool beyond_rounding = false;
  std::string node = {};  ///< "" where no layer could be named; `reason` says why
  std::string op = {};
  std::string output = {};
  Verdict left = Verdict::missing;  ///< of that layer
  Verdict right = Verdict::missing;
  /// To first order, of the margin between both answers: by this layer's own differences, and by those of all
  /// layers. 0 where it is beyond rounding.
  double moved = 0.0;
  double moved_by_all = 0.0;
  std::string reason = {};
};

/// What each layer itself adds to the difference of two runs of one input: its result less what its kernel
/// gives in double for the inputs that it had, right minus left. By layer in topological order, of floating
/// first outputs that both traces hold; a layer that is not recorded counts to the next one that is.
[[nodiscard]] Result<std::vector<LayerError>> own_differences(const Graph& graph, const Trace& left,
                                                              const Trace& right, ThreadPool& threads);

/// `gradient_of`: of the margin (logit of the left answer minus that of the right one) with respect to a
/// value, null where it is not known. `why_no_gradient`: what is said where none is known.
[[nodiscard]] Result<AnswerSeparation> separate_answers(
    const Graph& graph, const std::string& model_sha256, const Trace& left, const Trace& right,
    const std::function<const Tensor*(const std::string& value)>& gradient_of,
    const std::string& why_no_gradient, ThreadPool& threads);

}  // namespace driftscope
