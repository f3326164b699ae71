// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/convolution_case.hpp"

#include "core/ops/shared/convolution.hpp"

namespace driftscope::variants {

std::optional<ConvolutionCase> convolution_case(const Node& node, std::span<const Tensor* const> inputs) {
  if (inputs.size() < 2 || inputs[0] == nullptr || inputs[1] == nullptr) return std::nullopt;
  const Tensor& x = *inputs[0];
  const Tensor& w = *inputs[1];
  const Tensor* bias = inputs.size() > 2 ? inputs[2] : nullptr;
  if (x.dtype() != DType::float32 || w.dtype() != DType::float32 || x.shape().size() != 4 ||
      w.shape().size() != 4 || x.elements() == 0 || w.elements() == 0)
    return std::nullopt;
  const auto window = read_window(node, Ints(w.shape().begin() + 2, w.shape().end()));
  if (!window.ok()) return std::nullopt;
  const auto axes = place_windows(*window, std::span(x.shape()).subspan(2));
  const auto groups = read_group(node);
  if (!axes.ok() || !groups.ok()) return std::nullopt;
  ConvolutionCase conv;
  conv.samples = x.shape()[0];
  conv.groups = *groups;
  conv.channels = w.shape()[1];
  conv.outputs = w.shape()[0];
  conv.rows = (*axes)[0];
  conv.columns = (*axes)[1];
  conv.x = x.values<float>();
  conv.w = w.values<float>();
  if (bias != nullptr && bias->dtype() == DType::float32) conv.bias = bias->values<float>();
  const bool fits = conv.groups > 0 && conv.outputs % conv.groups == 0 &&
                    x.shape()[1] == conv.channels * conv.groups && conv.rows.output > 0 &&
                    conv.columns.output > 0 &&
                    (bias == nullptr || static_cast<std::int64_t>(conv.bias.size()) == conv.outputs);
  if (!fits) return std::nullopt;
  return conv;
}

}  // namespace driftscope::variants
