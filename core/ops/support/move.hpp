// Moves elements of any type without looking at them: floating tensors as the scalar (with the
// errors they carry), others as their bits. Clients: Reshape, Transpose, Concat, Pad, ….
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

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

/// Calls body(sources, target) once, with a std::span<const std::span<const T>> of the given inputs
/// and a std::span<T> of the output; all have the element type of the output. T is the scalar, or an
/// unsigned word as wide as the element.
template <class S, class Body>
void move_elements(KernelContext<S>& context, std::span<const std::size_t> inputs,
                   std::size_t output, const Body& body) {
  if (is_floating(context.output_dtype(output))) {
    std::vector<std::span<const S>> sources;
    for (const std::size_t i : inputs) sources.push_back(context.real(i));
    body(std::span<const std::span<const S>>(sources), context.real_output(output));
    return;
  }
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
