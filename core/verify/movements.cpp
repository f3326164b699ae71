// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/movements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

namespace driftscope {
namespace {

using Place = std::int64_t (*)(std::int64_t place, std::int64_t size);

// Slices along an axis are taken from others.
Movement along(MovementKind kind, const Shape& shape, std::size_t axis, Place place) {
  const std::int64_t inner = element_count(std::span(shape).subspan(axis + 1));
  const std::int64_t size = shape[axis];
  Movement made{.kind = kind, .where = fmt::format("along axis {}", axis)};
  made.source = [=](std::int64_t i) {
    const std::int64_t at = i / inner % size;
    const std::int64_t from = place(at, size);
    return from < 0 ? -1 : i + (from - at) * inner;
  };
  for (std::int64_t at = 0; at < size; ++at) made.leaves_out = made.leaves_out || place(at, size) < 0;
  return made;
}

// The memory holds axes a and a + 1 in the other order.
Movement exchanged(const Shape& shape, std::size_t a) {
  const std::int64_t inner = element_count(std::span(shape).subspan(a + 2));
  const std::int64_t rows = shape[a];
  const std::int64_t columns = shape[a + 1];
  const std::int64_t block = rows * columns * inner;
  return {.kind = MovementKind::transposed,
          .where = fmt::format("of axes {} and {} in memory", a, a + 1),
          .source = [=](std::int64_t i) {
            const std::int64_t in_block = i % block / inner;  // as [columns, rows]
            return i / block * block + (in_block % rows * columns + in_block / rows) * inner + i % inner;
          }};
}

// Channels are axis 1 of what is right and the last one in memory, or the other way round.
Movement channels_turned(const Shape& shape, bool last_in_memory) {
  const std::int64_t channels = last_in_memory ? shape[1] : shape.back();
  const std::int64_t sample = element_count(shape) / shape[0];
  const std::int64_t spatial = sample / channels;
  return {.kind = MovementKind::transposed,
          .where = last_in_memory ? "with channels last in memory" : "with channels first in memory",
          .source = [=](std::int64_t i) {
            const std::int64_t at = i % sample;
            return i - at +
                   (last_in_memory ? at % channels * spatial + at / channels
                                   : at % spatial * channels + at / spatial);
          }};
}

template <std::int64_t lanes>
std::int64_t modulo(std::int64_t p, std::int64_t) {
  return p % lanes;
}

void add_lanes(const Shape& shape, std::size_t axis, std::vector<Movement>& list) {
  const std::int64_t size = shape[axis];
  const auto add = [&](Place place, std::string_view how) {
    list.push_back(along(MovementKind::lanes, shape, axis, place));
    list.back().where += fmt::format(", {}", how);
  };
  if (size > 2) add(modulo<2>, "index modulo 2");
  if (size > 3) add(modulo<3>, "index modulo 3");
  if (size > 4) add(modulo<4>, "index modulo 4");
  if (size > 8 && size % 2 == 0)
    add([](std::int64_t p, std::int64_t n) { return p % (n / 2); }, "index modulo half the size");
  // Vectors of three whose place is counted in fours: ONNX Runtime Web 1.30 on WebGPU, of 9 or 129 channels.
  if (size > 6 && size % 3 == 0)
    add([](std::int64_t p, std::int64_t) { return p / 3 * 3 / 4 + p % 3; },
        "every three from a quarter of their place");
  if (size < 5) return;
  add([](std::int64_t p, std::int64_t) { return p / 4 * 4; }, "the first of every four");
  add([](std::int64_t p, std::int64_t) { return p / 4; }, "index divided by 4");
}

template <std::int64_t block>
std::int64_t first_half(std::int64_t p, std::int64_t) {
  return p % block < block / 2 ? p : -1;
}

void add_halves(const Shape& shape, std::size_t axis, std::vector<Movement>& list) {
  constexpr std::array<std::pair<std::int64_t, Place>, 6> blocks = {{{2, first_half<2>},
                                                                     {4, first_half<4>},
                                                                     {8, first_half<8>},
                                                                     {16, first_half<16>},
                                                                     {32, first_half<32>},
                                                                     {64, first_half<64>}}};
  for (const auto& [block, place] : blocks) {
    if (block > shape[axis]) break;
    list.push_back(along(MovementKind::half_missing, shape, axis, place));
    list.back().where += fmt::format(", blocks of {}", block);
  }
}

void add_along(MovementKind kind, const Shape& shape, std::size_t axis, std::vector<Movement>& list) {
  const auto add = [&](Place place) { list.push_back(along(kind, shape, axis, place)); };
  const std::int64_t size = shape[axis];
  switch (kind) {
    case MovementKind::shifted:
      add([](std::int64_t p, std::int64_t n) { return (p + 1) % n; });
      if (size == 2) break;
      add([](std::int64_t p, std::int64_t n) { return (p + n - 1) % n; });
      add([](std::int64_t p, std::int64_t n) { return p + 1 < n ? p + 1 : -1; });
      add([](std::int64_t p, std::int64_t) { return p - 1; });
      break;
    case MovementKind::mirrored: add([](std::int64_t p, std::int64_t n) { return n - 1 - p; }); break;
    case MovementKind::ends_exchanged:
      if (size > 3) add([](std::int64_t p, std::int64_t n) { return p == 0 ? n - 1 : p == n - 1 ? 0 : p; });
      break;
    case MovementKind::last_missing:
      add([](std::int64_t p, std::int64_t n) { return p < n - 1 ? p : -1; });
      break;
    case MovementKind::last_repeated:
      add([](std::int64_t p, std::int64_t n) { return std::min(p, n - 2); });
      break;
    case MovementKind::first_for_all: add([](std::int64_t, std::int64_t) { return std::int64_t{0}; }); break;
    case MovementKind::lanes: add_lanes(shape, axis, list); break;
    case MovementKind::half_missing: add_halves(shape, axis, list); break;
    case MovementKind::transposed: break;
  }
}

}  // namespace

std::vector<Movement> movements(MovementKind kind, const Shape& shape) {
  std::vector<Movement> list;
  if (element_count(shape) < 2) return list;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] > 1) add_along(kind, shape, axis, list);
  if (kind != MovementKind::transposed) return list;
  for (std::size_t a = 0; a + 1 < shape.size(); ++a)
    if (shape[a] > 1 && shape[a + 1] > 1) list.push_back(exchanged(shape, a));
  if (shape.size() > 3 && shape[1] > 1) list.push_back(channels_turned(shape, true));
  if (shape.size() > 3 && shape.back() > 1) list.push_back(channels_turned(shape, false));
  return list;
}

Result<Tensor> moved(const Tensor& tensor, const Movement& movement) {
  DRIFTSCOPE_TRY(Tensor made, Tensor::make(tensor.dtype(), tensor.shape()));
  const std::int64_t bits = bits_per_element(tensor.dtype());
  if (bits < 8) return tensor;
  const auto size = static_cast<std::size_t>(bits / 8);
  const std::byte* const from = tensor.bytes().data();
  std::byte* const to = made.mutable_bytes().data();
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    if (const std::int64_t source = movement.source(i); source >= 0)
      std::memcpy(to + static_cast<std::size_t>(i) * size, from + static_cast<std::size_t>(source) * size,
                  size);
  return made;
}

}  // namespace driftscope
