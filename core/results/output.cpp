#include "core/results/output.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/verify/top1.hpp"

namespace driftscope {

const Tensor* answer(const Trace& trace) {
  for (auto node = trace.nodes.rbegin(); node != trace.nodes.rend(); ++node)
    for (const std::string& name : node->outputs)
      if (const Tensor* tensor = trace.find(name)) return tensor;
  return trace.tensors.empty() ? nullptr : &trace.tensors.back().tensor;
}

std::vector<ClassScore> top_classes(const Tensor& output, const std::vector<std::string>& class_names,
                                    std::size_t limit) {
  if (output.dtype() != DType::float32 || output.elements() == 0) return {};
  const auto row = output.values<float>().first(static_cast<std::size_t>(class_count(output.shape())));
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto score = [&](std::size_t i) { return std::isnan(row[i]) ? -INFINITY : row[i]; };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return score(a) != score(b) ? score(a) > score(b) : a < b; });
  std::vector<ClassScore> classes;
  for (const std::size_t i : order) {
    if (classes.size() == limit) break;
    classes.push_back({static_cast<std::int64_t>(i), static_cast<double>(row[i]),
                       i < class_names.size() ? class_names[i] : std::to_string(i)});
  }
  return classes;
}

bool is_distribution(const Tensor& output) {
  if (output.dtype() != DType::float32 || output.elements() == 0) return false;
  const auto length = static_cast<std::size_t>(class_count(output.shape()));
  const auto values = output.values<float>();
  for (std::size_t begin = 0; begin + length <= values.size(); begin += length) {
    double sum = 0.0;
    for (const float x : values.subspan(begin, length)) {
      if (!(x >= 0.0f)) return false;
      sum += static_cast<double>(x);
    }
    if (std::abs(sum - 1.0) > 0.01) return false;
  }
  return true;
}

}  // namespace driftscope
