#include "core/verify/float_orders.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace driftscope {
namespace {

constexpr std::array<std::size_t, 6> interleaved = {4, 8, 16, 32, 64, 256};
constexpr std::array<std::size_t, 3> block_sizes = {64, 256, 1024};

float descending_sum(const ProductTerms& terms) {
  float sum = 0.0f;
  for (std::size_t k = terms.a.size(); k-- > 0;) sum += terms.a[k] * terms.b[k];
  return sum + static_cast<float>(terms.start);
}

float fused_sum(const ProductTerms& terms) {
  float sum = static_cast<float>(terms.start);
  for (std::size_t k = 0; k < terms.a.size(); ++k) sum = std::fma(terms.a[k], terms.b[k], sum);
  return sum;
}

// Every `lanes`-th term, the lanes added up by halves.
float interleaved_sum(const ProductTerms& terms, std::size_t lanes) {
  std::array<float, interleaved.back()> parts{};
  for (std::size_t k = 0; k < terms.a.size(); ++k) parts[k % lanes] += terms.a[k] * terms.b[k];
  for (std::size_t half = lanes / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) parts[i] += parts[i + half];
  return parts[0] + static_cast<float>(terms.start);
}

float blocked_sum(const ProductTerms& terms, std::size_t size) {
  float sum = static_cast<float>(terms.start);
  for (std::size_t begin = 0; begin < terms.a.size(); begin += size) {
    float part = 0.0f;
    for (std::size_t k = begin; k < std::min(terms.a.size(), begin + size); ++k)
      part += terms.a[k] * terms.b[k];
    sum += part;
  }
  return sum;
}

}  // namespace

SumStatistics statistics_of(const ProductTerms& terms) {
  double sum = terms.start;
  double squares = 0.0;
  double walk = 0.0;
  double positive = std::fmax(terms.start, 0.0);
  double negative = std::fmax(-terms.start, 0.0);
  for (std::size_t k = 0; k < terms.a.size(); ++k) {
    const double term = static_cast<double>(terms.a[k]) * static_cast<double>(terms.b[k]);
    sum += term;
    squares += term * term;
    walk += sum * sum;
    (term > 0.0 ? positive : negative) += std::fabs(term);
  }
  const double count = static_cast<double>(terms.a.size());
  const double largest = std::fmax(positive, negative);
  return {sum, positive + negative, std::sqrt(squares), std::sqrt(walk + squares),
          std::sqrt(count * largest * largest + squares)};
}

float ascending_sum(const ProductTerms& terms) {
  float sum = static_cast<float>(terms.start);
  for (std::size_t k = 0; k < terms.a.size(); ++k) sum += terms.a[k] * terms.b[k];
  return sum;
}

std::size_t other_orders() { return 2 + interleaved.size() + block_sizes.size(); }

float other_sum(const ProductTerms& terms, std::size_t order) {
  if (order == 0) return descending_sum(terms);
  if (order == 1) return fused_sum(terms);
  if (order < 2 + interleaved.size()) return interleaved_sum(terms, interleaved[order - 2]);
  return blocked_sum(terms, block_sizes[order - 2 - interleaved.size()]);
}

}  // namespace driftscope
