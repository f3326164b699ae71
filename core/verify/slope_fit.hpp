// Whether errors follow a hypothesis: the slope of the one on the other and the chance of it, behind what
// errors have in common whatever made them. Clients: rounded_factors, rounded_groups. It knows nothing of
// tensors.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace driftscope {

[[nodiscard]] double root_mean_square(std::span<const double> values);

/// Takes away from errors what given columns explain, each made orthogonal to those before it.
class Projection {
 public:
  explicit Projection(std::vector<std::vector<double>> columns);

  void remove(std::vector<double>& values) const;
  [[nodiscard]] std::size_t columns() const { return columns_.size(); }

 private:
  std::vector<std::vector<double>> columns_;
};

/// Of errors on a hypothesis, both without what a Projection takes away.
struct SlopeFit {
  double correlation = 0.0;
  double slope = 0.0;
  double slope_error = 0.0;
  double z = 0.0;          ///< Fisher's, in standard errors
  double scattered = 0.0;  ///< the same by the scatter of the elements themselves (White 1980): not one alone

  /// Worth more elements.
  [[nodiscard]] bool promising() const;
  [[nodiscard]] bool slope_is_one() const;
  /// By chance below 10⁻¹⁵.
  [[nodiscard]] bool certain() const;
};

/// `removed`: the columns of the projection.
[[nodiscard]] SlopeFit slope_of(std::span<const double> errors, std::span<const double> hypothesis,
                                std::size_t removed);

/// What is left of errors is more than the projection's own rounding.
[[nodiscard]] bool is_left(std::span<const double> rest, double size_before);

}  // namespace driftscope
