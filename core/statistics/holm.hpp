// Holm's correction for several tests at once. Source: Holm 1979, "A simple sequentially rejective multiple
// test procedure". Client: the test of that name.
#pragma once

#include <span>
#include <vector>

namespace driftscope {

/// Adjusted p values, in the order of the given ones, which are in [0, 1]: those below α are rejected with a
/// chance of at most α of any wrong rejection, whatever the tests have to do with each other.
[[nodiscard]] std::vector<double> holm(std::span<const double> p_values);

}  // namespace driftscope
