#include <cmath>

#include "core/base/half.hpp"
#include "tests/unit/verify/imitation.hpp"

namespace driftscope::test {
namespace {

using Span = std::span<const float>;

Arithmetic with_lanes(const std::string& name, std::size_t lanes, bool fused) {
  const auto close = [](std::vector<float>& partial) {
    for (std::size_t half = partial.size() / 2; half > 0; half /= 2)
      for (std::size_t i = 0; i < half; ++i) partial[i] = partial[i] + partial[i + half];
    return partial[0];
  };
  return {name,
          [=](Span a, Span b, float bias) {
            std::vector<float> partial(lanes, 0.0f);
            for (std::size_t i = 0; i < a.size(); ++i) {
              float& lane = partial[i % lanes];
              lane = fused ? std::fma(a[i], b[i], lane) : lane + a[i] * b[i];
            }
            return close(partial) + bias;
          },
          [=](Span a) {
            std::vector<float> partial(lanes, 0.0f);
            for (std::size_t i = 0; i < a.size(); ++i) partial[i % lanes] = partial[i % lanes] + a[i];
            return close(partial);
          }};
}

float pairwise(Span terms) {
  if (terms.empty()) return 0.0f;
  if (terms.size() == 1) return terms[0];
  const std::size_t half = terms.size() / 2;
  return pairwise(terms.first(half)) + pairwise(terms.subspan(half));
}

std::vector<float> products(Span a, Span b) {
  std::vector<float> terms(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) terms[i] = a[i] * b[i];
  return terms;
}

// Partial sums of `block` terms, as in cache blocking along k.
Arithmetic blocked(const std::string& name, std::size_t block) {
  return {name,
          [=](Span a, Span b, float bias) {
            float sum = bias;
            for (std::size_t first = 0; first < a.size(); first += block) {
              float part = 0.0f;
              for (std::size_t i = first; i < std::min(a.size(), first + block); ++i)
                part = std::fma(a[i], b[i], part);
              sum = sum + part;
            }
            return sum;
          },
          [=](Span a) {
            float sum = 0.0f;
            for (std::size_t first = 0; first < a.size(); first += block) {
              float part = 0.0f;
              for (std::size_t i = first; i < std::min(a.size(), first + block); ++i) part = part + a[i];
              sum = sum + part;
            }
            return sum;
          }};
}

Arithmetic ascending() {
  return {"ascending",
          [](Span a, Span b, float bias) {
            float sum = bias;
            for (std::size_t i = 0; i < a.size(); ++i) sum = sum + a[i] * b[i];
            return sum;
          },
          [](Span a) {
            float sum = 0.0f;
            for (const float x : a) sum = sum + x;
            return sum;
          }};
}

Arithmetic descending() {
  return {"descending, bias last",
          [](Span a, Span b, float bias) {
            float sum = 0.0f;
            for (std::size_t i = a.size(); i-- > 0;) sum = sum + a[i] * b[i];
            return sum + bias;
          },
          [](Span a) {
            float sum = 0.0f;
            for (std::size_t i = a.size(); i-- > 0;) sum = sum + a[i];
            return sum;
          }};
}

Arithmetic in_double() {
  return {"double accumulator",
          [](Span a, Span b, float bias) {
            double sum = static_cast<double>(bias);
            for (std::size_t i = 0; i < a.size(); ++i)
              sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
            return static_cast<float>(sum);
          },
          [](Span a) {
            double sum = 0.0;
            for (const float x : a) sum += static_cast<double>(x);
            return static_cast<float>(sum);
          }};
}

float toward_zero(double exact) {
  const auto nearest = static_cast<float>(exact);
  if (std::fabs(static_cast<double>(nearest)) <= std::fabs(exact)) return nearest;
  return std::nextafter(nearest, 0.0f);
}

std::vector<Arithmetic> make_correct() {
  std::vector<Arithmetic> all;
  all.push_back(ascending());
  all.push_back(descending());
  all.push_back({"pairwise", [](Span a, Span b, float bias) { return pairwise(products(a, b)) + bias; },
                 [](Span a) { return pairwise(a); }});
  all.push_back(with_lanes("fused, one lane", 1, true));
  all.push_back(with_lanes("4 lanes", 4, false));
  all.push_back(with_lanes("8 lanes", 8, false));
  all.push_back(with_lanes("16 lanes, fused", 16, true));
  all.push_back(blocked("blocks of 64", 64));
  all.push_back(blocked("blocks of 256", 256));
  all.push_back(in_double());
  for (std::size_t i = 1; i < all.size(); i += 2) all[i].reciprocal_mean = all[i].folded_norm = true;
  return all;
}

}  // namespace

const std::vector<Arithmetic>& correct_arithmetics() {
  static const std::vector<Arithmetic> all = make_correct();
  return all;
}

Arithmetic truncating() {
  // Sums and products of two floats are exact in double except sums of very different sizes, where
  // the direction is still right.
  return {"truncating",
          [](Span a, Span b, float bias) {
            float sum = bias;
            for (std::size_t i = 0; i < a.size(); ++i) {
              const float product = toward_zero(static_cast<double>(a[i]) * static_cast<double>(b[i]));
              sum = toward_zero(static_cast<double>(sum) + static_cast<double>(product));
            }
            return sum;
          },
          [](Span a) {
            float sum = 0.0f;
            for (const float x : a) sum = toward_zero(static_cast<double>(sum) + static_cast<double>(x));
            return sum;
          }};
}

Arithmetic bfloat16_factors() {
  const auto cut = [](float x) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffff0000u);
  };
  return {"bfloat16 factors",
          [cut](Span a, Span b, float bias) {
            float sum = bias;
            for (std::size_t i = 0; i < a.size(); ++i) sum = sum + cut(a[i]) * cut(b[i]);
            return sum;
          },
          [cut](Span a) {
            float sum = 0.0f;
            for (const float x : a) sum = sum + cut(x);
            return sum;
          }};
}

Arithmetic half_accumulator() {
  const auto half = [](double x) {
    return static_cast<float>(widen(float16_format, narrow(float16_format, x)));
  };
  return {"binary16 accumulator",
          [half](Span a, Span b, float bias) {
            float sum = half(static_cast<double>(bias));
            for (std::size_t i = 0; i < a.size(); ++i)
              sum = half(static_cast<double>(sum) + static_cast<double>(a[i]) * static_cast<double>(b[i]));
            return sum;
          },
          [half](Span a) {
            float sum = 0.0f;
            for (const float x : a) sum = half(static_cast<double>(sum) + static_cast<double>(x));
            return sum;
          }};
}

}  // namespace driftscope::test
