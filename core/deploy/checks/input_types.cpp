// Types of inputs that JavaScript has no ordinary array for.
#include <fmt/format.h>

#include "core/deploy/deploy_check.hpp"
#include "core/inputs/input_sizes.hpp"

namespace driftscope::deploy_checks::input_types {

namespace {

std::vector<DeployFinding> find(const DeployContext& context) {
  std::vector<DeployFinding> findings;
  if (!context.in_browsers()) return findings;
  const Graph& graph = context.model->graph;
  const auto add = [&](const Value& value, DeploySeverity severity, std::string shows, std::string fix) {
    findings.push_back({.severity = severity,
                        .where = typed_input_text(value),
                        .shows = std::move(shows),
                        .why = fmt::format("the input takes {}", dtype_name(value.dtype)),
                        .fix = std::move(fix)});
  };
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[id];
    if (value.dtype == DType::int64 || value.dtype == DType::uint64)
      add(value, DeploySeverity::note, "an array of JavaScript's numbers is refused (\"Cannot mix BigInt\")",
          "pass a BigInt64Array (BigInt64Array.from(numbers, BigInt)), or export the model with int32");
    else if (value.dtype == DType::float16)
      add(value, DeploySeverity::note, "browsers without Float16Array take the numbers' bits",
          "pass a Float16Array where there is one, else a Uint16Array of bits; or keep inputs in float32 and "
          "cast inside the model");
    else if (value.dtype == DType::float64)
      add(value, DeploySeverity::warning, "GPUs in browsers have no double precision",
          "export the model with float32 inputs");
  }
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "input_types", .about = "types that JavaScript passes in special arrays", .find = find});
}

}  // namespace driftscope::deploy_checks::input_types
