// Our reader's operators for MediaPipe's MaxPoolingWithArgmax2D and MaxUnpooling2D: a maximum with its
// place in its window (row · width + column + 0.1, as a real number), and the value back at that
// place. Windows lie side by side and fill the values, so that each is an axis of its own.
#include <fmt/format.h>

#include <numeric>

#include "core/convert/tf/to_onnx/maker.hpp"

namespace driftscope::tf::to_onnx_operators::places {
namespace {

using namespace to_onnx_parts;

struct Window {
  std::int64_t height = 1;
  std::int64_t width = 1;
};

Result<Window> window_of(const Node& node) {
  const auto size = attribute<Numbers>(node, "ksize", {});
  if (size.size() != 4 || size[1] < 1 || size[2] < 1) return bad_input("ksize: expected four numbers");
  return Window{size[1], size[2]};
}

/// Batch and channels may be open, height and width not.
Result<Shape> sizes_of(const Maker& maker, const Node& node) {
  const TensorInfo* const info = node.inputs.empty() ? nullptr : maker.info(node.inputs[0]);
  if (info == nullptr || info->shape.size() != 4 || info->shape[1] < 1 || info->shape[2] < 1 ||
      info->shape[3] < 1)
    return unsupported("height, width and channels of its values must be known");
  return info->shape;
}

Result<std::string> real(Maker& maker, double value, std::string_view suffix) {
  return maker.scalar(value, DType::float32, suffix);
}

/// Outputs: the maxima, their places.
Status pool(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const Window window, window_of(node));
  DRIFTSCOPE_TRY(const Shape sizes, sizes_of(maker, node));
  const std::int64_t rows = sizes[1] / window.height;
  const std::int64_t columns = sizes[2] / window.width;
  const std::string split = maker.make(
      "split", "Reshape",
      {x, maker.integers({-1, rows, window.height, columns, window.width, sizes[3]}, "split_shape")});
  const std::string together = maker.transposed(split, {0, 1, 3, 2, 4, 5}, "together");
  const std::string windows = maker.make(
      "windows", "Reshape",
      {together, maker.integers({-1, rows, columns, window.height * window.width, sizes[3]}, "shape")});
  constexpr std::int64_t axis = 3;
  maker.give("ReduceMax", {windows, maker.integers({axis}, "axis")}, {of("keepdims", std::int64_t{0})});
  const std::string place =
      maker.make("place", "ArgMax", {windows}, {of("axis", axis), of("keepdims", std::int64_t{0})});
  const std::string as_real =
      maker.make("real_place", "Cast", {place}, {of("to", static_cast<std::int64_t>(DType::float32))});
  DRIFTSCOPE_TRY(const std::string tenth, real(maker, 0.1, "tenth"));
  maker.give("Add", {as_real, tenth}, {}, 1);
  return {};
}

/// [values, places].
Status unpool(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const std::string places, maker.input(node, 1));
  DRIFTSCOPE_TRY(const Window window, window_of(node));
  DRIFTSCOPE_TRY(const Shape sizes, sizes_of(maker, node));
  const std::string apart = maker.integers({-1, sizes[1], 1, sizes[2], 1, sizes[3]}, "apart_shape");
  const std::string values = maker.make("apart", "Reshape", {x, apart});
  const std::string wanted = maker.make(
      "places", "Reshape",
      {maker.make("whole_places", "Cast", {places}, {of("to", static_cast<std::int64_t>(DType::int64))}),
       apart});
  Numbers numbers(static_cast<std::size_t>(window.height * window.width));
  std::iota(numbers.begin(), numbers.end(), 0);
  DRIFTSCOPE_TRY(Tensor taps,
                 Tensor::from_values<std::int64_t>({1, 1, window.height, 1, window.width, 1}, numbers));
  const std::string here = maker.make("here", "Equal", {wanted, maker.add_constant(std::move(taps), "taps")});
  DRIFTSCOPE_TRY(const std::string zero, real(maker, 0.0, "zero"));
  const std::string spread = maker.make("spread", "Where", {here, values, zero});
  maker.give(
      "Reshape",
      {spread, maker.integers({-1, sizes[1] * window.height, sizes[2] * window.width, sizes[3]}, "shape")});
  return {};
}

}  // namespace

void add_to(to_onnx_parts::RuleTable& table) {
  table.add("MaxPoolWithPlaces", pool);
  table.add("MaxUnpoolAtPlaces", unpool);
}

}  // namespace driftscope::tf::to_onnx_operators::places
