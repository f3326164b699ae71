// A model under a later version of ONNX's own operators: attributes that became inputs become inputs. Client:
// quantize, for element types and attributes that only later versions have.
#pragma once

#include <map>
#include <string>

#include "core/base/result.hpp"
#include "core/model/model.hpp"

namespace driftscope::quantize {

/// Nothing happens when the model has it already. `ranks`: of values, as far as they are known (Softmax
/// changed its meaning where its axis is not the last). Errors: below opset 11, beyond 21, an operator whose
/// change is not covered: the message names node and operator.
[[nodiscard]] Status raise_opset(Model& model, std::int64_t version, const std::map<std::string, int>& ranks);

}  // namespace driftscope::quantize
