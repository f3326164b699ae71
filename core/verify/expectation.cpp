// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/verify/metrics.hpp"
#include "core/verify/tensor_values.hpp"

namespace driftscope {
namespace {

bool near(double got, double want, const Tolerance& tolerance) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  if (std::isinf(got) || std::isinf(want)) return got == want;
  return std::fabs(got - want) <= tolerance.absolute + tolerance.relative * std::fabs(want);
}

}  // namespace

std::optional<std::string> disagreement(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  if (got.dtype() != want.dtype() || got.shape() != want.shape())
    return fmt::format("expected {} of shape {}, got {} of shape {}", dtype_name(want.dtype()),
                       shape_text(want.shape()), dtype_name(got.dtype()), shape_text(got.shape()));
  const auto elements = static_cast<std::size_t>(want.elements());
  if (!is_floating(want.dtype())) {
    if (std::ranges::equal(got.bytes(), want.bytes())) return std::nullopt;
    if (is_minifloat(want.dtype()))  // several bit patterns are NaN
      if (const auto metrics = measure(got, want); metrics.ok() && metrics->different_elements == 0)
        return std::nullopt;
    const auto at = std::ranges::mismatch(got.bytes(), want.bytes()).in1 - got.bytes().begin();
    return fmt::format("{} elements differ from the expected ones, the first is element {}",
                       dtype_name(want.dtype()), at * 8 / bits_per_element(want.dtype()));
  }
  const auto step_apart = [&](std::size_t i) {
    if (want.dtype() != DType::bfloat16) return false;
    const int distance = got.values<std::uint16_t>()[i] - want.values<std::uint16_t>()[i];
    return distance >= -1 && distance <= 1;
  };
  std::optional<std::string> first;
  with_float_values(got, want, [&](const auto& got_at, const auto& want_at) {
    for (std::size_t i = 0; i < elements && !first; ++i)
      if (!near(got_at(i), want_at(i), tolerance) && !step_apart(i))
        first = fmt::format("element {}: expected {:.9g}, got {:.9g}", i, want_at(i), got_at(i));
  });
  return first;
}

}  // namespace driftscope
