#include "core/verify/slope_fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace driftscope {
namespace {

constexpr double certain_z = 8.0;
constexpr double promising_z = 3.0;
constexpr double scattered_z = 3.0;
constexpr double slope_tolerance = 0.1;
constexpr double max_slope_error = 0.15;
constexpr double min_rest = 1e-6;

double inner_product_of(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

double root_mean_square(std::span<const double> values) {
  return values.empty() ? 0.0
                        : std::sqrt(inner_product_of(values, values) / static_cast<double>(values.size()));
}

bool is_left(std::span<const double> rest, double size_before) {
  return root_mean_square(rest) > min_rest * size_before;
}

Projection::Projection(std::vector<std::vector<double>> columns) {
  for (std::vector<double>& column : columns) {
    const double before = root_mean_square(column);
    remove(column);
    if (!is_left(column, before)) continue;
    const double size = std::sqrt(inner_product_of(column, column));
    for (double& x : column) x /= size;
    columns_.push_back(std::move(column));
  }
}

void Projection::remove(std::vector<double>& values) const {
  for (const auto& column : columns_) {
    const double share = inner_product_of(column, values);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= share * column[i];
  }
}

bool SlopeFit::promising() const { return z >= promising_z; }

bool SlopeFit::slope_is_one() const {
  return slope_error <= max_slope_error &&
         std::fabs(slope - 1.0) <= std::fmax(slope_tolerance, 4.0 * slope_error);
}

bool SlopeFit::certain() const { return z >= certain_z && scattered >= scattered_z && slope_is_one(); }

SlopeFit slope_of(std::span<const double> errors, std::span<const double> hypothesis, std::size_t removed) {
  SlopeFit fit;
  const double hh = inner_product_of(hypothesis, hypothesis);
  const double ee = inner_product_of(errors, errors);
  const double eh = inner_product_of(errors, hypothesis);
  const double freedom = static_cast<double>(errors.size()) - static_cast<double>(removed) - 3.0;
  if (!(hh > 0.0) || !(ee > 0.0) || freedom < 1.0) return fit;
  fit.correlation = std::clamp(eh / std::sqrt(hh * ee), -1.0, 1.0);
  fit.slope = eh / hh;
  fit.slope_error = std::sqrt(std::fmax(ee - fit.slope * eh, 0.0) / hh / freedom);
  fit.z = std::atanh(std::clamp(fit.correlation, -0.999999, 0.999999)) * std::sqrt(freedom);
  double scatter = 0.0;
  for (std::size_t i = 0; i < errors.size(); ++i)
    scatter += errors[i] * hypothesis[i] * errors[i] * hypothesis[i];
  fit.scattered = eh / std::sqrt(scatter);
  return fit;
}

}  // namespace driftscope
