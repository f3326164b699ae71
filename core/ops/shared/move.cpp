#include "core/ops/shared/move.hpp"

#include "core/model/tensor_elements.hpp"

namespace driftscope {
namespace {

/// Calls body.template operator()<Word>() with the unsigned word of 8 to 64 bits.
template <class Body>
void with_word(int bits, const Body& body) {
  switch (bits) {
    case 8: body.template operator()<std::uint8_t>(); break;
    case 16: body.template operator()<std::uint16_t>(); break;
    case 32: body.template operator()<std::uint32_t>(); break;
    default: body.template operator()<std::uint64_t>(); break;
  }
}

}  // namespace

std::vector<std::uint8_t> unpacked_elements(const Tensor& tensor) {
  std::vector<std::uint8_t> result(static_cast<std::size_t>(tensor.elements()));
  const PackedElements elements(tensor);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<std::uint8_t>(elements[i]);
  return result;
}

void pack_elements(std::span<const std::uint8_t> elements, Tensor& tensor) {
  for (std::size_t i = 0; i < elements.size(); ++i) store_packed(tensor, i, elements[i]);
}

std::vector<std::uint64_t> widened_words(const Tensor& tensor) {
  const int bits = bits_per_element(tensor.dtype());
  if (bits < 8) {
    const std::vector<std::uint8_t> elements = unpacked_elements(tensor);
    return {elements.begin(), elements.end()};
  }
  std::vector<std::uint64_t> words(static_cast<std::size_t>(tensor.elements()));
  with_word(bits, [&]<class Word>() {
    const auto* const from = reinterpret_cast<const Word*>(tensor.bytes().data());
    std::copy_n(from, words.size(), words.begin());
  });
  return words;
}

void narrow_words(std::span<const std::uint64_t> words, Tensor& tensor) {
  const int bits = bits_per_element(tensor.dtype());
  if (bits < 8) {
    for (std::size_t i = 0; i < words.size(); ++i) store_packed(tensor, i, static_cast<unsigned>(words[i]));
    return;
  }
  with_word(bits, [&]<class Word>() {
    auto* const to = reinterpret_cast<Word*>(tensor.mutable_bytes().data());
    for (std::size_t i = 0; i < words.size(); ++i) to[i] = static_cast<Word>(words[i]);
  });
}

std::vector<Bounded> exact_bounds(const Tensor& tensor) {
  std::vector<Bounded> bounds;
  if (is_floating(tensor.dtype())) return bounds;
  with_numbers(tensor, [&](const auto& at) {
    bounds.reserve(static_cast<std::size_t>(tensor.elements()));
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()); ++i) bounds.emplace_back(at(i));
  });
  return bounds;
}

}  // namespace driftscope
