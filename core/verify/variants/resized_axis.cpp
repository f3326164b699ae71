// Resize that treats one axis otherwise than the rest: as if it kept its length (what is beyond is 0 or the
// last element), or by the nearest element before in place of interpolation. Kernels for images whose
// channels come last do that to an axis that they take for another (ONNX Runtime Web 1.30 on WebGPU).
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>
#include <cstring>
#include <string>

#include "core/verify/variant.hpp"

namespace driftscope::variants::resized_axis {
namespace {

constexpr std::size_t scales_place = 2;

/// What element `i` of `to` along the axis is made of, of `from` elements; below 0: nothing.
using Source = std::int64_t (*)(std::int64_t i, std::int64_t from, std::int64_t to);

struct Way {
  Source source;
  const char* detail;
};

constexpr Way ways[] = {
    {[](std::int64_t i, std::int64_t from, std::int64_t) { return i < from ? i : -1; },
     "as long as before, 0 beyond"},
    {[](std::int64_t i, std::int64_t from, std::int64_t) { return std::min(i, from - 1); },
     "as long as before, the last element beyond"},
    {[](std::int64_t i, std::int64_t from, std::int64_t to) { return i * from / to; },
     "by the element before, not interpolated"},
    {[](std::int64_t i, std::int64_t from, std::int64_t to) {
       return std::max<std::int64_t>((2 * i + 1) * from - to, 0) / (2 * to);
     },
     "by the element before, of half_pixel, not interpolated"},
};

/// `x` with `length` elements along an axis, taken by `source`; nothing where memory does not suffice.
std::optional<Tensor> taken(const Tensor& x, std::size_t axis, std::int64_t length, Source source) {
  Shape shape = x.shape();
  const std::int64_t from = shape[axis];
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= shape[i];
  const std::size_t row = x.bytes().size() / static_cast<std::size_t>(outer * from);
  shape[axis] = length;
  auto made = Tensor::make(x.dtype(), std::move(shape));
  if (!made.ok()) return std::nullopt;
  std::byte* to = made->mutable_bytes().data();
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < length; ++i, to += row) {
      const std::int64_t at = source(i, from, length);
      if (at < 0)
        std::memset(to, 0, row);
      else
        std::memcpy(to, x.bytes().data() + static_cast<std::size_t>(o * from + at) * row, row);
    }
  return *std::move(made);
}

/// The scales of a node that has them for all axes, with 1 for one of them.
std::optional<Tensor> other_scales(const Tensor& scales, std::size_t rank, std::size_t axis) {
  if (scales.dtype() != DType::float32 || scales.elements() != static_cast<std::int64_t>(rank))
    return std::nullopt;
  auto made = Tensor::make(DType::float32, scales.shape());
  if (!made.ok()) return std::nullopt;
  std::ranges::copy(scales.values<float>(), made->mutable_values<float>().begin());
  made->mutable_values<float>()[axis] = 1.0f;
  return *std::move(made);
}

std::vector<Candidate> candidates(const LayerCase& layer) {
  const DerivationInputs* const inputs = layer.known_inputs();
  if (inputs == nullptr || inputs->tensors.size() <= scales_place) return {};
  const Tensor& x = inputs->tensors[0];
  const Tensor& scales = inputs->tensors[scales_place];
  const Shape& y = layer.got.shape();
  if (x.shape().size() != y.size() || x.elements() == 0) return {};
  const bool by_sizes = scales.elements() == 0;
  std::vector<Candidate> list;
  for (std::size_t axis = 0; axis < y.size(); ++axis) {
    if (y[axis] == x.shape()[axis]) continue;
    auto scales_then = by_sizes ? std::nullopt : other_scales(scales, y.size(), axis);
    if (!by_sizes && !scales_then) return {};
    for (const Way& way : ways) {
      Candidate candidate;
      candidate.inputs.push_back(
          {0, [&x, axis, length = y[axis], source = way.source] { return taken(x, axis, length, source); }});
      if (scales_then) candidate.inputs.push_back(other_input(scales_place, *scales_then));
      candidate.parameters = {{"axis", static_cast<double>(axis)}};
      candidate.detail = "(axis " + std::to_string(axis) + " " + way.detail + ")";
      list.push_back(std::move(candidate));
    }
  }
  return list;
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.kind = VariantKind::faulty,
             .family = "attribute",
             .id = "resized_axis",
             .name = "an axis resized otherwise than the rest",
             .operators = {"Resize", "Upsample"},
             .order = 12,
             .candidates = candidates});
}

}  // namespace driftscope::variants::resized_axis
