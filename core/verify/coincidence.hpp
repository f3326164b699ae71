// Whether a cause that fits may fit by accident. Clients: causes, the judge of other shapes.
#pragma once

#include <functional>
#include <span>

#include "core/numerics/bounded.hpp"
#include "core/numerics/error_model.hpp"

namespace driftscope {

/// The largest chance with which a cause is named.
inline constexpr double most_chance = 1e-6;

/// The chance that numbers within the range of the right output, and 0, are within bounds by accident: the
/// product of the shares of the range that the bounds of `computed` leave, over the elements that `counts`.
/// `share`: of each, the numbers that come into question. 1 where the range is empty. NaN is no evidence,
/// since most ways to fail end there; nor is a number of few that the output has.
[[nodiscard]] double coincidence(std::span<const Bounded> computed, std::span<const Bounded> right,
                                 const ErrorModel& model, double share,
                                 const std::function<bool(std::size_t element)>& counts);

}  // namespace driftscope
