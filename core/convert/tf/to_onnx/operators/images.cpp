// Padding, blocks of pixels, resizing.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/convert/tf/to_onnx/maker.hpp"

namespace driftscope::tf::to_onnx_operators::images {
namespace {

using namespace to_onnx_parts;

/// [rank, 2] → all begins, then all ends.
Result<Numbers> pads_of(const Maker& maker, const Node& node, std::size_t input) {
  DRIFTSCOPE_TRY(const Numbers pairs, maker.known_integers(node, input));
  if (pairs.size() % 2 != 0) return bad_input("the paddings must be two for each axis");
  Numbers pads(pairs.size());
  for (std::size_t i = 0; i < pairs.size() / 2; ++i)
    pads[i] = pairs[2 * i], pads[pairs.size() / 2 + i] = pairs[2 * i + 1];
  return pads;
}

Status pad(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const Numbers pads, pads_of(maker, node, 1));
  Names inputs = {x, maker.integers(pads, "pads")};
  if (node.inputs.size() > 2) {
    DRIFTSCOPE_TRY(const std::string fill, maker.input(node, 2));
    inputs.push_back(maker.make("fill", "Reshape", {fill, maker.integers({}, "scalar")}));
  }
  maker.give("Pad", std::move(inputs));
  return {};
}

/// SYMMETRIC repeats the edge, which ONNX has for pads of one element only.
Status mirror_pad(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const Numbers pads, pads_of(maker, node, 1));
  std::string mode = "reflect";
  if (attribute<std::string>(node, "mode", "REFLECT") != "REFLECT") {
    for (const std::int64_t one : pads)
      if (one > 1)
        return unsupported("the mode SYMMETRIC with pads of more than one element is not supported");
    mode = "edge";
  }
  maker.give("Pad", {x, maker.integers(pads, "pads")}, {of("mode", mode)});
  return {};
}

Status blocks(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  const auto size = attribute<std::int64_t>(node, "block_size", 0);
  if (size < 1) return bad_input(fmt::format("block_size: {}", size));
  if (node.op == "DepthToSpace") {
    maker.give_channels_last(maker.make("blocks", node.op, {maker.channels_first(x)},
                                        {of("blocksize", size), of("mode", std::string("DCR"))}));
    return {};
  }
  // ONNX's puts the block before the channels, as TensorFlow does.
  maker.give_channels_last(maker.make("blocks", node.op, {maker.channels_first(x)}, {of("blocksize", size)}));
  return {};
}

Status resize(Maker& maker, const Node& node) {
  const bool nearest = node.op == "ResizeNearestNeighbor";
  DRIFTSCOPE_TRY(const std::string x, nearest ? maker.input(node, 0) : maker.real_input(node, 0));
  DRIFTSCOPE_TRY(const Numbers size, maker.known_integers(node, 1));
  if (size.size() != 2) return bad_input("the size must be height and width");
  const bool corners = attribute<bool>(node, "align_corners", false);
  const bool half = attribute<bool>(node, "half_pixel_centers", false);
  OnnxAttributes attributes = {of("axes", Numbers{2, 3}),
                               of("mode", std::string(nearest ? "nearest" : "linear"))};
  std::string coordinates = corners ? "align_corners" : half ? "half_pixel" : "asymmetric";
  if (nearest) {
    // With half pixels TensorFlow takes the floor of the centre's coordinate, which half_pixel's 0.5 less
    // rounds up to.
    attributes.push_back(of("nearest_mode", std::string(corners || half ? "round_prefer_ceil" : "floor")));
  }
  attributes.push_back(of("coordinate_transformation_mode", std::move(coordinates)));
  maker.give_channels_last(maker.make("resized", "Resize",
                                      {maker.channels_first(x), "", "", maker.integers(size, "size")},
                                      std::move(attributes)));
  return {};
}

Status check_block(const Numbers& block) {
  constexpr std::int64_t max_size = 1 << 15;  // a batch times two of them stays in range
  for (const std::int64_t size : block)
    if (size < 1 || size > max_size)
      return bad_input(fmt::format("a block of {}; expected 1 to {}", size, max_size));
  return {};
}

/// Blocks of the batch: for dilated convolutions. [batch, spatial…, rest…] with paddings, then every block's
/// element becomes a batch of its own.
Status space_to_batch(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const Numbers block, maker.known_integers(node, 1));
  DRIFTSCOPE_TRY(const Numbers pads, maker.known_integers(node, 2));
  const auto shape = maker.shape(node.inputs[0]);
  if (!shape || shape->size() != 4 || block.size() != 2 || pads.size() != 4)
    return unsupported(
        "only values of a known shape of rank 4, with blocks of height and width, are "
        "supported");
  const Numbers sizes = {(*shape)[1] + pads[0] + pads[1], (*shape)[2] + pads[2] + pads[3]};
  DRIFTSCOPE_CHECK(check_block(block));
  if (sizes[0] % block[0] != 0 || sizes[1] % block[1] != 0)
    return bad_input(
        fmt::format("blocks of {}x{} do not divide {}x{}", block[0], block[1], sizes[0], sizes[1]));
  const std::string padded = maker.make(
      "padded", "Pad", {x, maker.integers({0, pads[0], pads[2], 0, 0, pads[1], pads[3], 0}, "pads")});
  const std::string split = maker.make("split", "Reshape",
                                       {padded, maker.integers({(*shape)[0], sizes[0] / block[0], block[0],
                                                                sizes[1] / block[1], block[1], (*shape)[3]},
                                                               "split_shape")});
  const std::string ordered = maker.transposed(split, {2, 4, 0, 1, 3, 5}, "ordered");
  maker.give("Reshape", {ordered, maker.integers({(*shape)[0] * block[0] * block[1], sizes[0] / block[0],
                                                  sizes[1] / block[1], (*shape)[3]},
                                                 "shape")});
  return {};
}

Status batch_to_space(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const Numbers block, maker.known_integers(node, 1));
  DRIFTSCOPE_TRY(const Numbers crops, maker.known_integers(node, 2));
  const auto shape = maker.shape(node.inputs[0]);
  if (!shape || shape->size() != 4 || block.size() != 2 || crops.size() != 4)
    return unsupported(
        "only values of a known shape of rank 4, with blocks of height and width, are "
        "supported");
  DRIFTSCOPE_CHECK(check_block(block));
  if ((*shape)[0] % (block[0] * block[1]) != 0)
    return bad_input(
        fmt::format("blocks of {}x{} do not divide a batch of {}", block[0], block[1], (*shape)[0]));
  const std::int64_t batch = (*shape)[0] / (block[0] * block[1]);
  const std::string split = maker.make(
      "split", "Reshape",
      {x, maker.integers({block[0], block[1], batch, (*shape)[1], (*shape)[2], (*shape)[3]}, "split_shape")});
  const std::string ordered = maker.transposed(split, {2, 3, 0, 4, 1, 5}, "ordered");
  const Numbers sizes = {(*shape)[1] * block[0], (*shape)[2] * block[1]};
  const std::string whole = maker.make(
      "whole", "Reshape", {ordered, maker.integers({batch, sizes[0], sizes[1], (*shape)[3]}, "shape")});
  maker.give("Slice", {whole, maker.integers({crops[0], crops[2]}, "begin"),
                       maker.integers({sizes[0] - crops[1], sizes[1] - crops[3]}, "end"),
                       maker.integers({1, 2}, "axes")});
  return {};
}

}  // namespace

void add_to(to_onnx_parts::RuleTable& table) {
  table.add("Pad", pad);
  table.add("PadV2", pad);
  table.add("MirrorPad", mirror_pad);
  table.add("DepthToSpace", blocks);
  table.add("SpaceToDepth", blocks);
  table.add("ResizeBilinear", resize);
  table.add("ResizeNearestNeighbor", resize);
  table.add("SpaceToBatchND", space_to_batch);
  table.add("BatchToSpaceND", batch_to_space);
}

}  // namespace driftscope::tf::to_onnx_operators::images
