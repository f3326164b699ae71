#include "core/study/layer_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

/// max |Δ| ÷ max |base|; where one has a value that is not finite and the other has not, infinity.
double relative_difference(std::span<const float> base, std::span<const float> there) {
  double largest = 0.0;
  double difference = 0.0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const auto a = static_cast<double>(base[i]);
    const auto b = static_cast<double>(there[i]);
    if (std::isfinite(a)) largest = std::max(largest, std::fabs(a));
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double one = std::fabs(a - b);
    difference = std::isfinite(one) ? std::max(difference, one) : std::numeric_limits<double>::infinity();
  }
  return difference == 0.0 ? 0.0 : difference / largest;
}

/// "first:Conv" and "last:Gemm" → the value's name.
Result<std::string> value_named(const Graph& graph, const std::string& wanted) {
  const bool first = wanted.starts_with("first:");
  if (!first && !wanted.starts_with("last:")) {
    if (!graph.find_value(wanted))
      return bad_input(
          fmt::format("{}: the model has no such value; expected first:OPERATOR, last:OPERATOR or a "
                      "name that 'driftscope run MODEL --print-graph' shows",
                      in_quotes(wanted)));
    return wanted;
  }
  const std::string_view op = std::string_view(wanted).substr(wanted.find(':') + 1);
  std::string found;
  for (const Node& node : graph.nodes) {
    if (node.op_type != op || node.outputs.empty()) continue;
    found = graph.value_name(node.outputs.front());
    if (first) break;
  }
  if (found.empty()) return bad_input(fmt::format("{}: the model has no operator {}", in_quotes(wanted), op));
  return found;
}

}  // namespace

LayerValues compare_layers(const Trace& base, const Trace& there) {
  std::map<std::string, std::string> operators;  // by value
  for (const NodeRecord& node : base.nodes)
    for (const std::string& output : node.outputs) operators[output] = node.op;
  LayerValues values;
  for (const NamedTensor& one : base.tensors) {
    const auto op = operators.find(one.name);
    const Tensor* const other = there.find(one.name);
    if (op == operators.end() || other == nullptr || one.tensor.dtype() != DType::float32 ||
        other->dtype() != DType::float32 || other->shape() != one.tensor.shape() || other->elements() == 0)
      continue;
    ++values.compared;
    const auto left = one.tensor.bytes();
    const auto right = other->bytes();
    if (std::ranges::equal(left, right)) continue;
    const double difference = relative_difference(one.tensor.values<float>(), other->values<float>());
    if (difference == 0.0) continue;  // the sign of a zero
    const std::string name = fmt::format("{} ({})", one.name, op->second);
    if (values.different++ == 0) {
      values.first = name;
      values.first_difference = difference;
    }
    if (difference > values.largest_difference) {
      values.largest = name;
      values.largest_difference = difference;
    }
  }
  return values;
}

Result<std::vector<std::optional<double>>> chosen_values(const Graph& graph,
                                                         const documents::PublishedValues& wanted,
                                                         const Trace& trace) {
  DRIFTSCOPE_TRY(const std::string name, value_named(graph, wanted.value));
  const Tensor* const tensor = trace.find(name);
  std::vector<std::optional<double>> values;
  for (const std::string& column : wanted.columns) {
    auto& value = values.emplace_back();
    std::int64_t place = 0;
    const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), place);
    if (error != std::errc() || end != column.data() + column.size()) continue;  // a title
    if (tensor == nullptr || tensor->dtype() != DType::float32) continue;
    if (place < 0) place += tensor->elements();
    if (place >= 0 && place < tensor->elements())
      value = static_cast<double>(tensor->values<float>()[static_cast<std::size_t>(place)]);
  }
  return values;
}

}  // namespace driftscope
