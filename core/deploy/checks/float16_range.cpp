// Constants that float16 cannot hold, where the model computes in float16: infinities that a conversion made
// of large weights, and float32 constants that a Cast will overflow or flush to zero.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/deploy/deploy_check.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope::deploy_checks::float16_range {

namespace {

/// Half a step above the largest number, 65504.
constexpr double rounds_to_infinity = 65520.0;
constexpr std::int64_t onnx_float16 = 10;

struct Places {
  std::string first;
  std::int64_t count = 0;
  double value = 0;
  void add(const std::string& name, double x) {
    if (count++ > 0) return;
    first = name;
    value = x;
  }
};

/// Calls `see` with the elements, piece by piece: a large constant stays in its file.
template <class T, class See>
void for_pieces(const Tensor& tensor, See see) {
  constexpr std::size_t piece = 1 << 18;
  std::vector<T> elements;
  for (std::size_t at = 0; at < tensor.byte_size(); at += elements.size() * sizeof(T)) {
    elements.resize(std::min(piece, (tensor.byte_size() - at) / sizeof(T)));
    tensor.copy_bytes(at, std::as_writable_bytes(std::span(elements)));
    for (const T element : elements) see(element);
  }
}

/// Elements of both kinds: one place for each constant.
void look_at_halves(const Value& value, Places& infinite, Places& not_numbers) {
  bool inf = false;
  bool nan = false;
  for_pieces<std::uint16_t>(*value.constant, [&](std::uint16_t bits) {
    constexpr std::uint16_t exponent = 0x7c00;
    if ((bits & exponent) != exponent) return;
    nan = nan || (bits & 0x03ff) != 0;
    inf = inf || (bits & 0x03ff) == 0;
  });
  if (inf) infinite.add(value.name, INFINITY);
  if (nan) not_numbers.add(value.name, NAN);
}

void look_at_cast(const Graph& graph, const Node& node, Places& overflow) {
  if (node.op_type != "Cast" || !node.domain.empty() || node.inputs.size() != 1 || node.inputs[0] == no_value)
    return;
  const auto to = int_attribute(node, "to", 0);
  const Value& value = graph.values[node.inputs[0]];
  if (!to.ok() || *to != onnx_float16 || !value.constant || value.constant->dtype() != DType::float32) return;
  double beyond = 0;
  for_pieces<float>(*value.constant, [&](float x) {
    if (beyond == 0 && std::isfinite(x) && std::fabs(static_cast<double>(x)) >= rounds_to_infinity)
      beyond = x;
  });
  if (beyond != 0) overflow.add(value.name, beyond);
}

struct Found {
  Places infinite, not_numbers, overflow;
};

void look(const Graph& graph, Found& found) {
  for (const Value& value : graph.values)
    if (value.constant && value.constant->dtype() == DType::float16)
      look_at_halves(value, found.infinite, found.not_numbers);
  for (const Node& node : graph.nodes) {
    look_at_cast(graph, node, found.overflow);
    for (const Subgraph& subgraph : node.subgraphs) look(*subgraph.graph, found);
  }
}

std::vector<DeployFinding> find(const DeployContext& context) {
  Found found;
  look(context.model->graph, found);
  std::vector<DeployFinding> findings;
  const auto add = [&](const Places& places, DeploySeverity severity, std::string shows, std::string why) {
    if (places.count > 0)
      findings.push_back({.severity = severity,
                          .where = places.first,
                          .count = places.count,
                          .shows = std::move(shows),
                          .why = std::move(why),
                          .fix = "keep these layers in float32, or clip the constants to ±65504 before the "
                                 "conversion (a mask of -1e9 becomes -65504)"});
  };
  add(found.not_numbers, DeploySeverity::error, "answers are NaN",
      "a float16 constant has elements that are NaN");
  add(found.infinite, DeploySeverity::warning, "answers may be infinite or NaN (0 times infinity)",
      "a float16 constant has infinite elements: as a rule, a number above 65504 before the conversion");
  add(found.overflow, DeploySeverity::warning, "the constant becomes infinite on its way",
      fmt::format("a Cast makes float16 of {:g}; the largest number of that type is 65504",
                  found.overflow.value));
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "float16_range", .about = "constants that float16 cannot hold", .find = find});
}

}  // namespace driftscope::deploy_checks::float16_range
