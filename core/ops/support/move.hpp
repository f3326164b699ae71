// Moves elements of any type without looking at them: floating tensors as the scalar (with the
// errors they carry), others as their bits. Clients: Reshape, Transpose, Concat, Pad, ….
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/ops/support/integers.hpp"
#include "core/ops/support/kernel_context.hpp"

namespace driftscope {

/// One nibble per byte; ONNX puts the first of two elements into the low half.
[[nodiscard]] inline std::vector<std::uint8_t> unpack_nibbles(const Tensor& tensor) {
  std::vector<std::uint8_t> result(static_cast<std::size_t>(tensor.elements()));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<std::uint8_t>(
        (static_cast<unsigned>(tensor.bytes()[i / 2]) >> (i % 2 * 4)) & 15u);
  return result;
}

inline void pack_nibbles(std::span<const std::uint8_t> nibbles, Tensor& tensor) {
  for (std::size_t i = 0; i < nibbles.size(); ++i) {
    std::byte& target = tensor.mutable_bytes()[i / 2];
    const auto nibble = static_cast<std::byte>(nibbles[i] << (i % 2 * 4));
    target = i % 2 == 0 ? nibble : target | nibble;
  }
}

/// Integers that rounding may have changed (a quantized value) carry bounds, which move along.
template <class Body>
void move_bounds(KernelContext<Bounded>& context, std::span<const std::size_t> inputs,
                 std::size_t output, const Body& body) {
  bool any = false;
  for (const std::size_t i : inputs) any = any || !context.real(i).empty();
  if (!any) return;
  const auto target = context.bounds_output(output);
  if (!target.ok()) return;
  std::vector<std::vector<Bounded>> exact(inputs.size());
  std::vector<std::span<const Bounded>> sources;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    sources.push_back(context.real(inputs[i]));
    if (!sources.back().empty()) continue;
    const Tensor& tensor = context.tensor(inputs[i]);
    const auto widen = [&](const auto values) {
      for (const auto x : values) exact[i].emplace_back(static_cast<double>(x));
    };
    if (bits_per_element(tensor.dtype()) == 4) widen(unpack_nibbles(tensor));
    else if (tensor.dtype() == DType::boolean) widen(tensor.values<std::uint8_t>());
    else with_integer(tensor.dtype(), [&]<class T>() { widen(tensor.values<T>()); });
    sources.back() = exact[i];
  }
  body(std::span<const std::span<const Bounded>>(sources), *target);
}

/// Calls body(sources, target) once, with a std::span<const std::span<const T>> of the given inputs
/// and a std::span<T> of the output; all have the element type of the output. T is the scalar, or an
/// unsigned word as wide as the element. (Once more for the bounds of integers that carry any.)
template <class S, class Body>
void move_elements(KernelContext<S>& context, std::span<const std::size_t> inputs,
                   std::size_t output, const Body& body) {
  if (is_floating(context.output_dtype(output))) {
    std::vector<std::span<const S>> sources;
    for (const std::size_t i : inputs) sources.push_back(context.real(i));
    body(std::span<const std::span<const S>>(sources), context.real_output(output));
    return;
  }
  if constexpr (std::is_same_v<S, Bounded>) move_bounds(context, inputs, output, body);
  Tensor& target = context.tensor_output(output);
  const auto as = [&]<class Word>() {
    std::vector<std::span<const Word>> sources;
    for (const std::size_t i : inputs)
      sources.emplace_back(reinterpret_cast<const Word*>(context.tensor(i).bytes().data()),
                           static_cast<std::size_t>(context.tensor(i).elements()));
    body(std::span<const std::span<const Word>>(sources),
         std::span<Word>(reinterpret_cast<Word*>(target.mutable_bytes().data()),
                         static_cast<std::size_t>(target.elements())));
  };
  switch (bits_per_element(target.dtype())) {
    case 4: {
      std::vector<std::vector<std::uint8_t>> unpacked;
      for (const std::size_t i : inputs) unpacked.push_back(unpack_nibbles(context.tensor(i)));
      std::vector<std::span<const std::uint8_t>> sources(unpacked.begin(), unpacked.end());
      std::vector<std::uint8_t> moved(static_cast<std::size_t>(target.elements()));
      body(std::span<const std::span<const std::uint8_t>>(sources), std::span(moved));
      pack_nibbles(moved, target);
      break;
    }
    case 8: as.template operator()<std::uint8_t>(); break;
    case 16: as.template operator()<std::uint16_t>(); break;
    case 32: as.template operator()<std::uint32_t>(); break;
    case 64: as.template operator()<std::uint64_t>(); break;
    default: as.template operator()<std::array<std::uint64_t, 2>>(); break;
  }
}

/// The output is the elements of input 0 in the same order.
template <class S>
void copy_elements(KernelContext<S>& context, std::size_t output = 0) {
  constexpr std::array<std::size_t, 1> first = {0};
  move_elements(context, first, output, [](auto sources, auto target) {
    std::copy(sources[0].begin(), sources[0].end(), target.begin());
  });
}

}  // namespace driftscope
