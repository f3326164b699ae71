// Operators whose options are one or two numbers.
#include <fmt/format.h>

#include "core/convert/tflite/reader/reader.hpp"

namespace driftscope::tflite {

Status need(const ReadOperator& from, std::size_t inputs) {
  for (std::size_t i = 0; i < inputs; ++i)
    if (i >= from.inputs.size() || from.inputs[i].empty())
      return bad_input(fmt::format("it has {} inputs, expected {}", from.inputs.size(), inputs));
  return {};
}

Status read_with_options(Reader& reader, ReadOperator& from) {
  DRIFTSCOPE_CHECK(need(from, 1));
  const auto integer = [](std::int32_t value) { return static_cast<std::int64_t>(value); };
  auto& attributes = from.attributes;
  switch (from.code) {
    case fb::BuiltinOperator::SOFTMAX:
      if (const auto* options = from.as<fb::SoftmaxOptions>()) attributes["beta"] = options->beta();
      return reader.add(from, "Softmax", from.inputs);
    case fb::BuiltinOperator::LEAKY_RELU:
      if (const auto* options = from.as<fb::LeakyReluOptions>()) attributes["alpha"] = options->alpha();
      return reader.add(from, "LeakyRelu", from.inputs);
    case fb::BuiltinOperator::GELU:
      if (const auto* options = from.as<fb::GeluOptions>())
        attributes["approximate"] = options->approximate();
      return reader.add(from, "Gelu", from.inputs);
    case fb::BuiltinOperator::L2_NORMALIZATION: return reader.add(from, "L2Normalization", from.inputs);
    case fb::BuiltinOperator::LOCAL_RESPONSE_NORMALIZATION:
      if (const auto* options = from.as<fb::LocalResponseNormalizationOptions>()) {
        attributes["depth_radius"] = integer(options->radius());
        attributes["bias"] = options->bias();
        attributes["alpha"] = options->alpha();
        attributes["beta"] = options->beta();
      }
      return reader.add(from, "LRN", from.inputs);
    case fb::BuiltinOperator::PACK:
      if (const auto* options = from.as<fb::PackOptions>()) attributes["axis"] = integer(options->axis());
      return reader.add(from, "Pack", from.inputs);
    case fb::BuiltinOperator::UNPACK:
      if (const auto* options = from.as<fb::UnpackOptions>()) attributes["axis"] = integer(options->axis());
      attributes["num"] = static_cast<std::int64_t>(from.outputs.size());
      return reader.add(from, "Unpack", from.inputs);
    case fb::BuiltinOperator::GATHER:
      if (const auto* options = from.as<fb::GatherOptions>()) {
        attributes["axis"] = integer(options->axis());
        attributes["batch_dims"] = integer(options->batch_dims());
      }
      return reader.add(from, "GatherV2", from.inputs);
    case fb::BuiltinOperator::BATCH_MATMUL:
      if (const auto* options = from.as<fb::BatchMatMulOptions>()) {
        attributes["adj_x"] = options->adj_x();
        attributes["adj_y"] = options->adj_y();
      }
      return reader.add(from, "BatchMatMulV2", from.inputs);
    case fb::BuiltinOperator::MIRROR_PAD:
      if (const auto* options = from.as<fb::MirrorPadOptions>())
        attributes["mode"] =
            std::string(options->mode() == fb::MirrorPadMode::REFLECT ? "REFLECT" : "SYMMETRIC");
      return reader.add(from, "MirrorPad", from.inputs);
    case fb::BuiltinOperator::DEPTH_TO_SPACE:
      if (const auto* options = from.as<fb::DepthToSpaceOptions>())
        attributes["block_size"] = integer(options->block_size());
      return reader.add(from, "DepthToSpace", from.inputs);
    case fb::BuiltinOperator::SPACE_TO_DEPTH:
      if (const auto* options = from.as<fb::SpaceToDepthOptions>())
        attributes["block_size"] = integer(options->block_size());
      return reader.add(from, "SpaceToDepth", from.inputs);
    case fb::BuiltinOperator::CAST:
      attributes["DstT"] = reader.info(from.outputs[0]).dtype;
      return reader.add(from, "Cast", from.inputs);
    case fb::BuiltinOperator::SHAPE:
      attributes["out_type"] = reader.info(from.outputs[0]).dtype;
      return reader.add(from, "Shape", from.inputs);
    case fb::BuiltinOperator::ARG_MAX:
    case fb::BuiltinOperator::ARG_MIN:
      attributes["output_type"] = reader.info(from.outputs[0]).dtype;
      return reader.add(from, from.code == fb::BuiltinOperator::ARG_MAX ? "ArgMax" : "ArgMin", from.inputs);
    case fb::BuiltinOperator::ONE_HOT:
      if (const auto* options = from.as<fb::OneHotOptions>()) attributes["axis"] = integer(options->axis());
      return reader.add(from, "OneHot", from.inputs);
    case fb::BuiltinOperator::CUMSUM:
      if (const auto* options = from.as<fb::CumsumOptions>()) {
        attributes["exclusive"] = options->exclusive();
        attributes["reverse"] = options->reverse();
      }
      return reader.add(from, "Cumsum", from.inputs);
    case fb::BuiltinOperator::EMBEDDING_LOOKUP: {
      DRIFTSCOPE_CHECK(need(from, 2));  // [indices, table]
      return reader.add(from, "GatherV2", {from.inputs[1], from.inputs[0], reader.integers({0}, true)});
    }
    default: return unsupported("this operator is not supported");
  }
}

}  // namespace driftscope::tflite
