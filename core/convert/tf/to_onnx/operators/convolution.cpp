// Convolutions: filters [height, width, in, out] become [out, in, height, width], those of depthwise ones
// [height, width, in, multiplier] [in·multiplier, 1, height, width]; their inputs and outputs are transposed.
// Fused ones have a bias and an activation (fused_ops).
#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/convert/tf/to_onnx/maker.hpp"

namespace driftscope::tf::to_onnx_operators::convolution {
namespace {

using namespace to_onnx_parts;

struct Window {
  OnnxAttributes attributes;
  std::size_t spatial = 2;
};

Result<Window> window_of(const Node& node, std::size_t spatial) {
  const auto inner = [&](std::string_view name) -> Result<Numbers> {
    const auto given = attribute<Numbers>(node, name, Numbers(spatial + 2, 1));
    if (given.size() != spatial + 2 || given.front() != 1 || given.back() != 1)
      return unsupported(
          fmt::format("{}: [{}]; batch and channels must have 1", name, fmt::join(given, ", ")));
    for (const std::int64_t step : given)
      if (step < 1)
        return bad_input(fmt::format("{}: [{}]; expected 1 and more", name, fmt::join(given, ", ")));
    return Numbers(given.begin() + 1, given.end() - 1);
  };
  const auto format = attribute<std::string>(node, "data_format", spatial == 2 ? "NHWC" : "NDHWC");
  if (format.starts_with("NC"))
    return unsupported(fmt::format("data_format {} is not supported, only channels last", in_quotes(format)));
  Window window;
  window.spatial = spatial;
  DRIFTSCOPE_TRY(Numbers strides, inner("strides"));
  DRIFTSCOPE_TRY(Numbers dilations, inner("dilations"));
  window.attributes = {of("strides", std::move(strides)), of("dilations", std::move(dilations))};
  const auto padding = attribute<std::string>(node, "padding", "VALID");
  if (padding == "SAME") {
    window.attributes.push_back(of("auto_pad", std::string("SAME_UPPER")));
  } else if (padding == "EXPLICIT") {
    const auto given = attribute<Numbers>(node, "explicit_paddings", {});
    if (given.size() != 2 * (spatial + 2) || given[0] != 0 || given[1] != 0 || given[given.size() - 1] != 0 ||
        given[given.size() - 2] != 0)
      return unsupported(
          fmt::format("explicit_paddings: [{}]; expected two for each axis, none for batch and channels",
                      fmt::join(given, ", ")));
    Numbers pads(2 * spatial);
    for (std::size_t i = 0; i < spatial; ++i)
      pads[i] = given[2 * i + 2], pads[spatial + i] = given[2 * i + 3];
    window.attributes.push_back(of("pads", std::move(pads)));
  } else if (padding != "VALID") {
    return bad_input(fmt::format("padding {}; expected SAME, VALID or EXPLICIT", in_quotes(padding)));
  }
  return window;
}

/// [spatial…, in, out] → [out, in, spatial…].
std::string arranged(Maker& maker, const std::string& filter, std::size_t spatial) {
  const auto rank = static_cast<std::int64_t>(spatial) + 2;
  Numbers order = {rank - 1, rank - 2};
  for (std::int64_t axis = 0; axis < rank - 2; ++axis) order.push_back(axis);
  return maker.transposed(filter, std::move(order), "filter");
}

/// The convolution's channels first output, with bias, made channels last and activated.
Status finish(Maker& maker, const Node& node, std::string_view op, Names inputs, Window window) {
  auto fused = attribute<std::vector<std::string>>(node, "fused_ops", {});
  std::string activation;
  if (!fused.empty() && fused[0] == "BiasAdd") {
    DRIFTSCOPE_TRY(const std::string bias, maker.input(node, 2));
    inputs.push_back(bias);
    fused.erase(fused.begin());
  } else if (fused.empty() && node.inputs.size() > 2) {
    DRIFTSCOPE_TRY(const std::string bias, maker.input(node, 2));
    inputs.push_back(bias);
  }
  if (fused.size() > 1 || (!fused.empty() && fused[0] == "FusedBatchNorm"))
    return unsupported(
        fmt::format("fused_ops {} are not supported", in_quotes(fmt::format("{}", fmt::join(fused, ", ")))));
  if (!fused.empty()) activation = fused[0];
  const std::size_t rank = window.spatial + 2;
  const std::string result = maker.make("convolved", op, std::move(inputs), std::move(window.attributes));
  if (activation.empty() || activation == "Linear" || activation == "linear") {
    maker.give_channels_last(result, rank);
    return {};
  }
  Numbers last = {0};
  for (std::size_t axis = 2; axis < rank; ++axis) last.push_back(static_cast<std::int64_t>(axis));
  last.push_back(1);
  const std::string before = maker.transposed(result, std::move(last), "before_activation");
  if (activation == "Prelu") {
    DRIFTSCOPE_TRY(const std::string slope, maker.input(node, 3));
    maker.give("PRelu", {before, slope});
    return {};
  }
  return give_activation(maker, node, activation, before);
}

Status convolve(Maker& maker, const Node& node, std::size_t spatial) {
  DRIFTSCOPE_TRY(Window window, window_of(node, spatial));
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const std::string filter, maker.input(node, 1));
  const auto channels = maker.shape(node.inputs[0]);
  const auto filter_shape = maker.shape(node.inputs[1]);
  // Groups follow from the channels, where both are known.
  if (channels && filter_shape && channels->size() == spatial + 2 && filter_shape->size() == spatial + 2 &&
      (*filter_shape)[spatial] > 0 && channels->back() != (*filter_shape)[spatial]) {
    if (channels->back() % (*filter_shape)[spatial] != 0)
      return bad_input(fmt::format("the input has {} channels, the filter {}", channels->back(),
                                   (*filter_shape)[spatial]));
    window.attributes.push_back(of("group", channels->back() / (*filter_shape)[spatial]));
  }
  return finish(maker, node, "Conv", {maker.channels_first(x, spatial + 2), arranged(maker, filter, spatial)},
                std::move(window));
}

Status two_dimensions(Maker& maker, const Node& node) { return convolve(maker, node, 2); }
Status three_dimensions(Maker& maker, const Node& node) { return convolve(maker, node, 3); }

Status depthwise(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(Window window, window_of(node, 2));
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const std::string filter, maker.input(node, 1));
  const auto shape = maker.shape(node.inputs[1]);
  if (!shape || shape->size() != 4)
    return unsupported(
        fmt::format("the filter {} must have a known shape of rank 4", in_quotes(node.inputs[1])));
  const std::string ordered = maker.transposed(filter, {2, 3, 0, 1}, "filter_order");
  const std::string weights = maker.make(
      "filter", "Reshape",
      {ordered, maker.integers({(*shape)[2] * (*shape)[3], 1, (*shape)[0], (*shape)[1]}, "filter_shape")});
  window.attributes.push_back(of("group", (*shape)[2]));
  return finish(maker, node, "Conv", {maker.channels_first(x), weights}, std::move(window));
}

/// The sizes of the image that a transposed convolution gives: a constant, or, where the shape is computed
/// because its batch is open, as the file says of the result.
Result<Numbers> output_sizes(Maker& maker, const Node& node) {
  const TensorInfo* const result = maker.info(node.name);
  if (!node.inputs.empty() && maker.constant(node.inputs[0]) == nullptr && result != nullptr &&
      result->shape.size() == 4 && result->shape[1] > 0 && result->shape[2] > 0)
    return Numbers{result->shape[1], result->shape[2]};
  DRIFTSCOPE_TRY(Numbers sizes, maker.known_integers(node, 0));
  if (sizes.size() != 4 && sizes.size() != 2)
    return bad_input(fmt::format("the output's shape has {} numbers, expected 4", sizes.size()));
  return sizes;
}

/// The gradient of a convolution by its input: [output shape, filter [height, width, out, in], values].
Status transposed(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(Window window, window_of(node, 2));
  DRIFTSCOPE_TRY(const Numbers sizes, output_sizes(maker, node));
  DRIFTSCOPE_TRY(const std::string filter, maker.input(node, 1));
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 2));
  const std::size_t first = sizes.size() == 4 ? 1 : 0;
  const auto padding = attribute<std::string>(node, "padding", "VALID");
  if (padding == "EXPLICIT")
    return unsupported("a transposed convolution with explicit paddings is not supported");
  OnnxAttributes attributes = {window.attributes[0], window.attributes[1],
                               of("output_shape", Numbers{sizes[first], sizes[first + 1]}),
                               of("auto_pad", std::string("SAME_UPPER"))};
  Names inputs = {maker.channels_first(x), maker.transposed(filter, {3, 2, 0, 1}, "filter")};
  if (node.inputs.size() > 3) {
    DRIFTSCOPE_TRY(const std::string bias, maker.input(node, 3));
    inputs.push_back(bias);
  }
  maker.give_channels_last(
      maker.make("convolved", "ConvTranspose", std::move(inputs), std::move(attributes)));
  return {};
}

/// Our reader's: [values, filter [height, width, out, in], bias], with the pads as ONNX has them.
Status transposed_with_pads(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(Window window, window_of(node, 2));
  Names inputs;
  for (std::size_t i = 0; i < 3; ++i) {
    DRIFTSCOPE_TRY(std::string one, maker.input(node, i));
    inputs.push_back(std::move(one));
  }
  inputs[0] = maker.channels_first(inputs[0]);
  inputs[1] = maker.transposed(inputs[1], {3, 2, 0, 1}, "filter");
  window.attributes.push_back(of("pads", attribute<Numbers>(node, "pads", {0, 0, 0, 0})));
  maker.give_channels_last(
      maker.make("convolved", "ConvTranspose", std::move(inputs), std::move(window.attributes)));
  return {};
}

}  // namespace

void add_to(to_onnx_parts::RuleTable& table) {
  table.add("Conv2D", two_dimensions);
  table.add("_FusedConv2D", two_dimensions);
  table.add("Conv3D", three_dimensions);
  table.add("DepthwiseConv2dNative", depthwise);
  table.add("FusedDepthwiseConv2dNative", depthwise);
  table.add("_FusedDepthwiseConv2dNative", depthwise);
  table.add("Conv2DBackpropInput", transposed);
  table.add("ConvTransposeWithPads", transposed_with_pads);
}

}  // namespace driftscope::tf::to_onnx_operators::convolution
