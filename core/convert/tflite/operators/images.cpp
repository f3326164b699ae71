// Paddings, blocks of pixels, and resizing.
#include <fmt/format.h>

#include "core/convert/tflite/attributes.hpp"
#include "core/convert/tflite/builder.hpp"
#include "core/convert/tflite/operator_table.hpp"

namespace driftscope::tflite::operators::images {
namespace {

using Code = fb::BuiltinOperator;

template <Code code, class T>
Status with(Builder& builder, const tf::Node& node) {
  builder.add(node, code, builder.default_options<T>());
  return {};
}

Status mirror_pad(Builder& builder, const tf::Node& node) {
  const auto mode = attribute<std::string>(node, "mode", "REFLECT");
  if (mode != "REFLECT" && mode != "SYMMETRIC")
    return unsupported(fmt::format("the mode '{}', it must be REFLECT or SYMMETRIC", mode));
  const auto made = fb::CreateMirrorPadOptions(
      builder.tables(), mode == "REFLECT" ? fb::MirrorPadMode::REFLECT : fb::MirrorPadMode::SYMMETRIC);
  builder.add(node, Code::MIRROR_PAD, Builder::options(made));
  return {};
}

template <Code code, class T>
Status blocks(Builder& builder, const tf::Node& node) {
  typename T::Builder made(builder.tables());
  made.add_block_size(static_cast<std::int32_t>(attribute<std::int64_t>(node, "block_size", 0)));
  builder.add(node, code, Builder::options(made.Finish()));
  return {};
}

template <Code code, class T>
Status resize(Builder& builder, const tf::Node& node) {
  typename T::Builder made(builder.tables());
  made.add_align_corners(attribute<bool>(node, "align_corners", false));
  made.add_half_pixel_centers(attribute<bool>(node, "half_pixel_centers", false));
  builder.add(node, code, Builder::options(made.Finish()));
  return {};
}

}  // namespace

void add_to(OperatorTable& table) {
  table["Pad"] = with<Code::PAD, fb::PadOptions>;
  table["PadV2"] = with<Code::PADV2, fb::PadV2Options>;
  table["MirrorPad"] = mirror_pad;
  table["BatchToSpaceND"] = with<Code::BATCH_TO_SPACE_ND, fb::BatchToSpaceNDOptions>;
  table["SpaceToBatchND"] = with<Code::SPACE_TO_BATCH_ND, fb::SpaceToBatchNDOptions>;
  table["DepthToSpace"] = blocks<Code::DEPTH_TO_SPACE, fb::DepthToSpaceOptions>;
  table["SpaceToDepth"] = blocks<Code::SPACE_TO_DEPTH, fb::SpaceToDepthOptions>;
  table["ResizeBilinear"] = resize<Code::RESIZE_BILINEAR, fb::ResizeBilinearOptions>;
  table["ResizeNearestNeighbor"] = resize<Code::RESIZE_NEAREST_NEIGHBOR, fb::ResizeNearestNeighborOptions>;
}

}  // namespace driftscope::tflite::operators::images
