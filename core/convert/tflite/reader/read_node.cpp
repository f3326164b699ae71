// Operators of TensorFlow Lite as TensorFlow's: names, attributes, the order of filters.
#include <fmt/format.h>

#include <array>

#include "core/base/text.hpp"
#include "core/convert/tflite/reader/reader.hpp"

namespace driftscope::tflite {
namespace {

using Code = fb::BuiltinOperator;
using List = std::vector<std::int64_t>;

struct Same {
  Code code;
  std::string_view op;
};
/// Those whose inputs and outputs are TensorFlow's, without options that matter.
constexpr auto plain = std::to_array<Same>({
    {Code::ABS, "Abs"},
    {Code::CEIL, "Ceil"},
    {Code::COS, "Cos"},
    {Code::ELU, "Elu"},
    {Code::EXP, "Exp"},
    {Code::FLOOR, "Floor"},
    {Code::LOG, "Log"},
    {Code::LOGICAL_NOT, "LogicalNot"},
    {Code::NEG, "Neg"},
    {Code::RELU, "Relu"},
    {Code::RELU6, "Relu6"},
    {Code::RELU_N1_TO_1, "ReluN1To1"},
    {Code::RELU_0_TO_1, "Relu0To1"},
    {Code::ROUND, "Round"},
    {Code::RSQRT, "Rsqrt"},
    {Code::LOGISTIC, "Sigmoid"},
    {Code::SIGN, "Sign"},
    {Code::SIN, "Sin"},
    {Code::SQRT, "Sqrt"},
    {Code::SQUARE, "Square"},
    {Code::TANH, "Tanh"},
    {Code::ZEROS_LIKE, "ZerosLike"},
    {Code::ADD_N, "AddN"},
    {Code::FLOOR_DIV, "FloorDiv"},
    {Code::FLOOR_MOD, "FloorMod"},
    {Code::MAXIMUM, "Maximum"},
    {Code::MINIMUM, "Minimum"},
    {Code::POW, "Pow"},
    {Code::PRELU, "Prelu"},
    {Code::SQUARED_DIFFERENCE, "SquaredDifference"},
    {Code::EQUAL, "Equal"},
    {Code::NOT_EQUAL, "NotEqual"},
    {Code::LESS, "Less"},
    {Code::LESS_EQUAL, "LessEqual"},
    {Code::GREATER, "Greater"},
    {Code::GREATER_EQUAL, "GreaterEqual"},
    {Code::LOGICAL_AND, "LogicalAnd"},
    {Code::LOGICAL_OR, "LogicalOr"},
    {Code::SELECT_V2, "SelectV2"},
    {Code::LOG_SOFTMAX, "LogSoftmax"},
    {Code::HARD_SWISH, "HardSwish"},
    {Code::PAD, "Pad"},
    {Code::PADV2, "PadV2"},
    {Code::TRANSPOSE, "Transpose"},
    {Code::TILE, "Tile"},
    {Code::BROADCAST_TO, "BroadcastTo"},
    {Code::FILL, "Fill"},
    {Code::RANGE, "Range"},
    {Code::EXPAND_DIMS, "ExpandDims"},
    {Code::SLICE, "Slice"},
    {Code::GATHER_ND, "GatherNd"},
    {Code::SCATTER_ND, "ScatterNd"},
    {Code::REVERSE_V2, "ReverseV2"},
    {Code::TOPK_V2, "TopKV2"},
    {Code::SPACE_TO_BATCH_ND, "SpaceToBatchND"},
    {Code::BATCH_TO_SPACE_ND, "BatchToSpaceND"},
    {Code::QUANTIZE, "QuantizeV2"},
    {Code::DEQUANTIZE, "Dequantize"},
});
constexpr auto reductions = std::to_array<Same>({{Code::MEAN, "Mean"},
                                                 {Code::SUM, "Sum"},
                                                 {Code::REDUCE_MAX, "Max"},
                                                 {Code::REDUCE_MIN, "Min"},
                                                 {Code::REDUCE_PROD, "Prod"},
                                                 {Code::REDUCE_ANY, "Any"},
                                                 {Code::REDUCE_ALL, "All"}});

template <std::size_t Count>
std::string_view name_in(const std::array<Same, Count>& table, Code code) {
  for (const Same& one : table)
    if (one.code == code) return one.op;
  return "";
}

std::string padding_name(fb::Padding padding) { return padding == fb::Padding::SAME ? "SAME" : "VALID"; }

/// Options that an operator cannot do without.
Error no_options() { return bad_input("its options are missing"); }

template <class T>
void take_window(const T& options, ReadOperator& from) {
  from.attributes["padding"] = padding_name(options.padding());
  from.attributes["strides"] = List{1, options.stride_h(), options.stride_w(), 1};
  from.activation = options.fused_activation_function();
}

Status conv(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 2));
  const auto* options = from.as<fb::Conv2DOptions>();
  if (options == nullptr) return no_options();
  take_window(*options, from);
  from.attributes["dilations"] = List{1, options->dilation_h_factor(), options->dilation_w_factor(), 1};
  std::vector<std::string> inputs = from.inputs;
  DRIFTSCOPE_TRY(inputs[1], reader.ordered(inputs[1], {1, 2, 3, 0}));
  return reader.add(from, "Conv2D", std::move(inputs));
}

/// Its filter has TensorFlow's own order.
Status conv3d(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 2));
  const auto* options = from.as<fb::Conv3DOptions>();
  if (options == nullptr) return no_options();
  from.attributes["padding"] = padding_name(options->padding());
  from.attributes["strides"] = List{1, options->stride_d(), options->stride_h(), options->stride_w(), 1};
  from.attributes["dilations"] =
      List{1, options->dilation_d_factor(), options->dilation_h_factor(), options->dilation_w_factor(), 1};
  from.activation = options->fused_activation_function();
  return reader.add(from, "Conv3D", from.inputs);
}

Status depthwise(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 2));
  const auto* options = from.as<fb::DepthwiseConv2DOptions>();
  if (options == nullptr) return no_options();
  take_window(*options, from);
  from.attributes["dilations"] = List{1, options->dilation_h_factor(), options->dilation_w_factor(), 1};
  const Shape filter = reader.info(from.inputs[1]).shape;
  const Shape& values = reader.info(from.inputs[0]).shape;
  if (values.size() == 4 && values[3] == -1) return unsupported("values with an open number of channels");
  if (filter.size() != 4 || values.size() != 4 || filter[0] != 1 || values[3] < 1 || filter[3] < 1 ||
      filter[3] % values[3] != 0)
    return bad_input(
        fmt::format("a filter {} for values {}; expected 1 x height x width x a multiple of the channels",
                    shape_text(filter), shape_text(values)));
  std::vector<std::string> inputs = from.inputs;
  DRIFTSCOPE_TRY(inputs[1],
                 reader.reshaped(inputs[1], {filter[1], filter[2], values[3], filter[3] / values[3]}));
  return reader.add(from, "DepthwiseConv2dNative", std::move(inputs));
}

/// Version 1 takes whole rows of x or y where the condition has one axis; SELECT_V2 broadcasts.
Status select(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 3));
  const std::size_t condition = reader.info(from.inputs[0]).shape.size();
  const std::size_t values = reader.info(from.inputs[1]).shape.size();
  if (condition == 1 && values > 1)
    from.attributes["condition_axes_after"] = static_cast<std::int64_t>(values - 1);
  return reader.add(from, "Select", from.inputs);
}

/// [output shape, filter [out, height, width, in], values, bias].
Status transpose_conv(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 3));
  const auto* options = from.as<fb::TransposeConvOptions>();
  if (options == nullptr) return no_options();
  take_window(*options, from);
  std::vector<std::string> inputs = from.inputs;
  DRIFTSCOPE_TRY(inputs[1], reader.ordered(inputs[1], {1, 2, 0, 3}));
  return reader.add(from, "Conv2DBackpropInput", std::move(inputs));
}

Status pool(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 1));
  const auto* options = from.as<fb::Pool2DOptions>();
  if (options == nullptr) return no_options();
  take_window(*options, from);
  from.attributes["ksize"] = List{1, options->filter_height(), options->filter_width(), 1};
  return reader.add(from, from.code == Code::MAX_POOL_2D ? "MaxPool" : "AvgPool", from.inputs);
}

Status fully_connected(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 2));
  if (const auto* options = from.as<fb::FullyConnectedOptions>()) {
    from.activation = options->fused_activation_function();
    from.attributes["keep_num_dims"] = options->keep_num_dims();
    if (options->weights_format() != fb::FullyConnectedOptionsWeightsFormat::DEFAULT)
      return unsupported("weights in a shuffled format");
  }
  return reader.add(from, "FullyConnected", from.inputs);
}

Status concatenation(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 1));
  const auto* options = from.as<fb::ConcatenationOptions>();
  if (options == nullptr) return no_options();
  from.activation = options->fused_activation_function();
  std::vector<std::string> inputs = from.inputs;
  inputs.push_back(reader.integers({options->axis()}, true));
  return reader.add(from, "ConcatV2", std::move(inputs));
}

Status arithmetic(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 2));
  std::string_view op = "AddV2";
  if (from.code == Code::ADD) {
    if (const auto* options = from.as<fb::AddOptions>())
      from.activation = options->fused_activation_function();
  } else if (from.code == Code::SUB) {
    op = "Sub";
    if (const auto* options = from.as<fb::SubOptions>())
      from.activation = options->fused_activation_function();
  } else if (from.code == Code::MUL) {
    op = "Mul";
    if (const auto* options = from.as<fb::MulOptions>())
      from.activation = options->fused_activation_function();
  } else {
    op = "RealDiv";
    if (const auto* options = from.as<fb::DivOptions>())
      from.activation = options->fused_activation_function();
  }
  return reader.add(from, op, from.inputs);
}

Status reshape(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 1));
  std::vector<std::string> inputs = {from.inputs[0]};
  if (from.inputs.size() > 1) {
    inputs.push_back(from.inputs[1]);
  } else if (const auto* options = from.as<fb::ReshapeOptions>();
             options != nullptr && options->new_shape() != nullptr) {
    List shape;
    for (const std::int32_t size : *options->new_shape()) shape.push_back(size);
    inputs.push_back(reader.integers(shape));
  } else {
    return bad_input("it has no shape");
  }
  return reader.add(from, "Reshape", std::move(inputs));
}

Status squeeze(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 1));
  List axes;
  if (const auto* options = from.as<fb::SqueezeOptions>();
      options != nullptr && options->squeeze_dims() != nullptr)
    for (const std::int32_t axis : *options->squeeze_dims()) axes.push_back(axis);
  from.attributes["squeeze_dims"] = std::move(axes);
  return reader.add(from, "Squeeze", from.inputs);
}

Status strided_slice(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 4));
  if (const auto* options = from.as<fb::StridedSliceOptions>()) {  // Chromium's WebNN writes none
    if (options->offset()) return unsupported("an end that counts from begin");
    const auto mask = [](std::int32_t bits) { return static_cast<std::int64_t>(bits); };
    from.attributes["begin_mask"] = mask(options->begin_mask());
    from.attributes["end_mask"] = mask(options->end_mask());
    from.attributes["ellipsis_mask"] = mask(options->ellipsis_mask());
    from.attributes["new_axis_mask"] = mask(options->new_axis_mask());
    from.attributes["shrink_axis_mask"] = mask(options->shrink_axis_mask());
  }
  return reader.add(from, "StridedSlice", from.inputs);
}

template <class T>
Status resize(Reader& reader, ReadOperator& from, std::string_view op) {
  DRIFTSCOPE_CHECK(need(from, 2));
  const auto* options = from.as<T>();
  if (options == nullptr) return no_options();
  from.attributes["align_corners"] = options->align_corners();
  from.attributes["half_pixel_centers"] = options->half_pixel_centers();
  return reader.add(from, op, from.inputs);
}

Status split(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, from.code == Code::SPLIT ? 2 : 3));
  from.attributes["num_split"] = static_cast<std::int64_t>(from.outputs.size());
  return reader.add(from, from.code == Code::SPLIT ? "Split" : "SplitV", from.inputs);
}

/// [condition, inputs of both graphs].
Status if_(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 1));
  const auto* options = from.as<fb::IfOptions>();
  if (options == nullptr) return no_options();
  for (const std::int32_t graph : {options->then_subgraph_index(), options->else_subgraph_index()}) {
    DRIFTSCOPE_TRY(auto branch, reader.branch(graph));
    if (branch->inputs.size() + 1 != from.inputs.size() || branch->outputs.size() != from.outputs.size())
      return bad_input(fmt::format(
          "graph {} has {} inputs and {} outputs, the operator gives {} and takes {}", graph,
          branch->inputs.size(), branch->outputs.size(), from.inputs.size() - 1, from.outputs.size()));
    for (std::size_t i = 0; i < branch->inputs.size(); ++i) {
      const DType inner = branch->tensors.at(branch->inputs[i]).dtype;
      if (from.inputs[i + 1].empty() || reader.info(from.inputs[i + 1]).dtype != inner)
        return bad_input(fmt::format("graph {}: its input {} is {}, another type or nothing is given", graph,
                                     i, dtype_name(inner)));
    }
    from.branches.push_back(std::move(branch));
  }
  return reader.add(from, "If", from.inputs);
}

}  // namespace

Status read_node(Reader& reader, ReadOperator& from) {
  if (const std::string_view op = name_in(plain, from.code); !op.empty()) {
    DRIFTSCOPE_CHECK(need(from, 1));
    return reader.add(from, op, from.inputs);
  }
  if (const std::string_view op = name_in(reductions, from.code); !op.empty()) {
    DRIFTSCOPE_CHECK(need(from, 2));
    if (const auto* options = from.as<fb::ReducerOptions>())
      from.attributes["keep_dims"] = options->keep_dims();
    return reader.add(from, op, from.inputs);
  }
  switch (from.code) {
    case Code::CUSTOM: return read_custom(reader, from);
    case Code::IF: return if_(reader, from);
    case Code::CONV_2D: return conv(reader, from);
    case Code::CONV_3D: return conv3d(reader, from);
    case Code::DEPTHWISE_CONV_2D: return depthwise(reader, from);
    case Code::TRANSPOSE_CONV: return transpose_conv(reader, from);
    case Code::MAX_POOL_2D:
    case Code::AVERAGE_POOL_2D: return pool(reader, from);
    case Code::FULLY_CONNECTED: return fully_connected(reader, from);
    case Code::CONCATENATION: return concatenation(reader, from);
    case Code::ADD:
    case Code::SUB:
    case Code::MUL:
    case Code::DIV: return arithmetic(reader, from);
    case Code::SELECT: return select(reader, from);
    case Code::RESHAPE: return reshape(reader, from);
    case Code::SQUEEZE: return squeeze(reader, from);
    case Code::STRIDED_SLICE: return strided_slice(reader, from);
    case Code::RESIZE_BILINEAR: return resize<fb::ResizeBilinearOptions>(reader, from, "ResizeBilinear");
    case Code::RESIZE_NEAREST_NEIGHBOR:
      return resize<fb::ResizeNearestNeighborOptions>(reader, from, "ResizeNearestNeighbor");
    case Code::SPLIT:
    case Code::SPLIT_V: return split(reader, from);
    default: return read_with_options(reader, from);
  }
}

}  // namespace driftscope::tflite
