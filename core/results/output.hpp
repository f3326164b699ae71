// A classifier's output in readable form. Clients: tables, report, data sets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/trace.hpp"

namespace driftscope {

struct ClassScore {
  std::int64_t index = 0;
  double score = 0.0;
  std::string name;  ///< the class's name, else its number
};

/// The last tensor of the trace that is an output of the last node: the model's result. Null when
/// the trace has no nodes or did not record it.
[[nodiscard]] const Tensor* answer(const Trace& trace);

/// Elements of the first row of classes (top1.hpp), largest first, at most `limit`; ties keep the lower
/// index first. Empty for tensors other than float32 rows.
[[nodiscard]] std::vector<ClassScore> top_classes(const Tensor& output,
                                                  const std::vector<std::string>& class_names,
                                                  std::size_t limit);

/// Whether the elements look like probabilities: none negative, every row's sum within 1 % of 1.
[[nodiscard]] bool is_distribution(const Tensor& output);

}  // namespace driftscope
