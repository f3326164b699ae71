// Moves elements of any type without interpreting them: floating tensors as the scalar (with their
// errors), others as their bits. Clients: Reshape, Transpose, Concat, Pad, ….
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/eval/kernel_context.hpp"

namespace driftscope {

/// The bits of each element of a packed type in a byte of its own, and the reverse.
[[nodiscard]] std::vector<std::uint8_t> unpacked_elements(const Tensor& tensor);
void pack_elements(std::span<const std::uint8_t> elements, Tensor& tensor);

/// The elements of a tensor that is not floating, each widened to 64 bits.
[[nodiscard]] std::vector<std::uint64_t> widened_words(const Tensor& tensor);
void narrow_words(std::span<const std::uint64_t> words, Tensor& tensor);
/// Integers as numbers, exactly known.
[[nodiscard]] std::vector<Bounded> exact_bounds(const Tensor& tensor);

/// Integers that rounding may have changed (a quantized value) carry bounds, which are moved as well.
template <class Body>
void move_bounds(KernelContext<Bounded>& context, std::span<const std::size_t> inputs, std::size_t output,
                 const Body& body) {
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
    exact[i] = exact_bounds(context.tensor(inputs[i]));
    sources.back() = exact[i];
  }
  body(std::span<const std::span<const Bounded>>(sources), *target);
}

/// Calls body(sources, target) with a std::span<const std::span<const T>> of the given inputs and a
/// std::span<T> of the output; all have the element type of the output. T is the scalar, or an
/// unsigned word as wide as the element (the widest where other inputs are floating, which saves
/// compiling all of them for each scalar). Once more for the bounds of integers that carry any.
template <class S, class Body>
void move_elements(KernelContext<S>& context, std::span<const std::size_t> inputs, std::size_t output,
                   const Body& body) {
  if (is_floating(context.output_dtype(output))) {
    std::vector<std::span<const S>> sources;
    for (const std::size_t i : inputs) sources.push_back(context.real(i));
    body(std::span<const std::span<const S>>(sources), context.real_output(output));
    return;
  }
  Tensor& target = context.tensor_output(output);
  const int bits = bits_per_element(target.dtype());
  const auto widest = [&] {
    std::vector<std::vector<std::uint64_t>> words;
    for (const std::size_t i : inputs) words.push_back(widened_words(context.tensor(i)));
    const std::vector<std::span<const std::uint64_t>> sources(words.begin(), words.end());
    std::vector<std::uint64_t> moved(static_cast<std::size_t>(target.elements()));
    body(std::span<const std::span<const std::uint64_t>>(sources), std::span(moved));
    narrow_words(moved, target);
  };
  if constexpr (!std::is_same_v<S, float>) {
    if constexpr (std::is_same_v<S, Bounded>) move_bounds(context, inputs, output, body);
    if (bits <= 64)
      widest();
    else
      context.miss_integers(target.dtype());
  } else {
    const auto as = [&]<class Word>() {
      std::vector<std::span<const Word>> sources;
      for (const std::size_t i : inputs)
        sources.emplace_back(reinterpret_cast<const Word*>(context.tensor(i).bytes().data()),
                             static_cast<std::size_t>(context.tensor(i).elements()));
      body(std::span<const std::span<const Word>>(sources),
           std::span<Word>(reinterpret_cast<Word*>(target.mutable_bytes().data()),
                           static_cast<std::size_t>(target.elements())));
    };
    switch (bits) {
      case 8: as.template operator()<std::uint8_t>(); break;
      case 16: as.template operator()<std::uint16_t>(); break;
      case 32: as.template operator()<std::uint32_t>(); break;
      case 64: as.template operator()<std::uint64_t>(); break;
      case 128: as.template operator()<std::array<std::uint64_t, 2>>(); break;
      default: widest(); break;  // two to a byte
    }
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
