// Checks the fields of "start".
#include <fmt/format.h>

#include <set>

#include "core/base/text.hpp"
#include "core/graph/control_flow.hpp"
#include "core/inputs/found_inputs.hpp"
#include "core/protocol/run.hpp"
#include "core/trace/trace_file.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {
namespace {

Result<FoundInputs> read_inputs(const messages::Start& request, std::span<const std::byte> payload,
                                const Graph& graph) {
  if (request.seed && !payload.empty()) return bad_input("request: give inputs or a \"seed\", not both");
  if (request.seed) return found_inputs(graph, *request.seed);
  if (payload.empty() && !graph.inputs.empty())
    return bad_input("request: neither inputs nor a \"seed\" came with \"start\"");
  if (payload.empty()) return FoundInputs{};
  auto file = read_trace(payload);
  if (!file.ok()) return in_context(std::move(file).error(), "inputs");
  return FoundInputs{std::move(file->tensors), {}};
}

// Names of the graph's values; a misspelt name would silently keep nothing.
Status check_values(const std::vector<std::string>& names, const Graph& graph) {
  std::set<std::string_view> known;
  for (const Value& value : graph.values) known.insert(value.name);
  for (const std::string& name : names)
    if (!known.contains(name) && !has_value_inside(graph, name))
      return bad_input(
          fmt::format("request: \"values\" names {}, which is not a value of the model", in_quotes(name)));
  return {};
}

Status check_samples(const NamedInputs& inputs, std::int64_t samples) {
  for (const NamedTensor& input : inputs) {
    const Shape& shape = input.tensor.shape();
    if (shape.empty() || shape[0] != samples)
      return bad_input(fmt::format("input {}: expected a leading axis of {} samples, got {}", input.name,
                                   samples, shape_text(shape)));
  }
  return {};
}

}  // namespace

Result<StartRequest> read_start_request(const messages::Start& request, std::span<const std::byte> payload,
                                        const Graph& graph, std::optional<NamedInputs> given) {
  StartRequest run;
  DRIFTSCOPE_TRY(run.target, parse_target(request.target));
  run.record.repeat = static_cast<int>(request.repeat);
  run.record.settling.budget_ns = static_cast<std::int64_t>(request.settle_ms) * 1'000'000;
  run.record.compare_runs = request.compare_runs;
  run.record.times = request.times;
  if (run.record.compare_runs && (run.record.repeat < 2 || run.record.settling.budget_ns > 0))
    return bad_input(fmt::format(
        "request: \"compare_runs\" needs a \"repeat\" of at least 2 and no \"settle_ms\", got {} and {}",
        request.repeat, request.settle_ms));
  const auto capture = capture_from(messages::name_of(request.capture));
  if (!capture) return bad_input("request: \"capture\": none is for measurements alone");
  run.record.capture = *capture;
  if (request.values) DRIFTSCOPE_CHECK(check_values(*request.values, graph));
  run.record.values = request.values;
  run.stream = request.stream;
  run.samples = request.samples.value_or(0);
  if (run.samples > 0 && (run.record.repeat != 1 || run.record.settling.budget_ns > 0))
    return bad_input("request: \"samples\" and \"repeat\" or \"settle_ms\" exclude each other");
  run.unwatched_ns = static_cast<std::int64_t>(request.unwatched_ms) * 1'000'000;
  run.memory_runs = request.memory_runs;
  if (run.samples > 0 && (run.unwatched_ns > 0 || run.memory_runs > 0))
    return bad_input("request: \"samples\" and \"unwatched_ms\" or \"memory_runs\" exclude each other");
  if (run.samples > 0 && run.stream)
    return bad_input("request: \"samples\" and \"stream\" exclude each other");
  if (request.environment) run.environment = *request.environment;
  if (given) {
    run.inputs = *std::move(given);
  } else {
    DRIFTSCOPE_TRY(FoundInputs read, read_inputs(request, payload, graph));
    run.inputs = std::move(read.tensors);
    if (request.seed) run.chosen = std::move(read.chosen);
  }
  if (run.samples > 0) DRIFTSCOPE_CHECK(check_samples(run.inputs, run.samples));
  return run;
}

}  // namespace driftscope
