// Whether errors follow a hypothesis: the regression of errors on it and its significance, after removing
// common effects that have other causes. Clients: rounded_factors, rounded_groups. It knows nothing of
// tensors.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace driftscope {

[[nodiscard]] double root_mean_square(std::span<const double> values);

/// Removes from errors what given columns explain; each is made orthogonal to those before it.
class Projection {
 public:
  explicit Projection(std::vector<std::vector<double>> columns);

  void remove(std::vector<double>& values) const;
  [[nodiscard]] std::size_t columns() const { return columns_.size(); }

 private:
  std::vector<std::vector<double>> columns_;
};

/// Errors against a hypothesis, after both went through a Projection.
struct SlopeFit {
  double correlation = 0.0;
  double slope = 0.0;
  double slope_error = 0.0;
  double z = 0.0;          ///< Fisher's, in standard errors
  double scattered = 0.0;  ///< z from the scatter of the elements themselves (White 1980): not one alone

  /// Worth trying with more elements.
  [[nodiscard]] bool promising() const;
  [[nodiscard]] bool slope_is_one() const;
  /// Probability by chance below 10⁻¹⁵.
  [[nodiscard]] bool certain() const;
};

/// `removed`: number of columns in the projection.
[[nodiscard]] SlopeFit slope_of(std::span<const double> errors, std::span<const double> hypothesis,
                                std::size_t removed);

/// Whether the remaining errors exceed the projection's own rounding.
[[nodiscard]] bool is_left(std::span<const double> rest, double size_before);

}  // namespace driftscope
