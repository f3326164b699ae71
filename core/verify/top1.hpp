// The best class in a model's output: the one rule for which axis the classes lie along.
// Clients: compare, baselines, checks, data sets, tables, report.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/tensor.hpp"

namespace driftscope {

/// Scores of one row: the last axis, after axes of length 1 behind axis 1 are dropped. So it is the classes
/// in [classes], [N, classes], [N, classes, 1, 1] (what global pooling leaves) and, for every step of a
/// sequence, in [N, steps, classes]. 1 for a scalar. A map [N, channels, height, width] has no classes along
/// any axis by this rule: its rows are those of the picture.
[[nodiscard]] std::int64_t class_count(const Shape& shape);

/// Index of the largest element of each row, the first on a tie; NaN never wins, a row of nothing but NaN has
/// −1. Empty for an empty tensor, nothing when it is not float32.
[[nodiscard]] std::optional<std::vector<std::int64_t>> top1(const Tensor& answer);

}  // namespace driftscope
