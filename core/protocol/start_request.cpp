// What "start" may say.
#include <fmt/format.h>

#include <set>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/protocol/fields.hpp"
#include "core/protocol/run.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/trace/trace_file.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

constexpr std::int64_t max_repeat = 1'000'000;
constexpr std::int64_t max_samples = 100'000'000;
constexpr std::size_t max_environment = 64;  // entries

Result<json> read_environment(const json& request) {
  json environment = json::object();
  const auto given = request.find("environment");
  if (given == request.end() || given->is_null()) return environment;
  if (!given->is_object() || given->size() > max_environment)
    return bad_input(
        fmt::format("request: \"environment\" must be an object of at most {} entries", max_environment));
  for (const auto& [name, value] : given->items()) {
    if (!value.is_primitive())
      return bad_input(
          fmt::format("request: environment \"{}\" must be a text, a number or a "
                      "boolean",
                      name));
    environment[name] = value;
  }
  return environment;
}

Result<NamedInputs> read_inputs(const json& request, std::span<const std::byte> payload, const Graph& graph) {
  const auto seed = request.find("seed");
  const bool has_seed = seed != request.end() && !seed->is_null();
  if (has_seed && !payload.empty()) return bad_input("request: give inputs or a \"seed\", not both");
  if (has_seed) {
    if (!seed->is_number_unsigned()) return bad_input("request: \"seed\" must be a whole number from 0 on");
    return seeded_inputs(graph, seed->get<std::uint64_t>());
  }
  if (payload.empty() && !graph.inputs.empty())
    return bad_input("request: neither inputs nor a \"seed\" came with \"start\"");
  if (payload.empty()) return NamedInputs{};
  auto file = read_trace(payload);
  if (!file.ok()) return in_context(std::move(file).error(), "inputs");
  return std::move(file->tensors);
}

// Names of the graph's values; a name that it lacks would silently keep nothing.
Result<std::optional<std::vector<std::string>>> read_values(const json& request, const Graph& graph) {
  const auto given = request.find("values");
  if (given == request.end() || given->is_null()) return std::optional<std::vector<std::string>>();
  if (!given->is_array()) return bad_input("request: \"values\" must be an array of names");
  std::set<std::string_view> known;
  for (const Value& value : graph.values) known.insert(value.name);
  std::vector<std::string> names;
  for (const json& name : *given) {
    if (!name.is_string() || !known.contains(name.get_ref<const std::string&>()))
      return bad_input(fmt::format("request: \"values\" names {}, which is no value of the model",
                                   in_quotes(json_text(name))));
    names.push_back(name.get<std::string>());
  }
  return std::optional(std::move(names));
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

Result<StartRequest> read_start_request(const json& request, std::span<const std::byte> payload,
                                        const Graph& graph) {
  StartRequest run;
  DRIFTSCOPE_TRY(const auto target, read_text(request, "target"));
  if (!target) return bad_input("request: \"start\" needs a \"target\"");
  DRIFTSCOPE_TRY(run.target, parse_target(*target));
  DRIFTSCOPE_TRY(const auto repeat, read_int(request, "repeat", 1, max_repeat));
  run.record.repeat = static_cast<int>(repeat.value_or(1));
  DRIFTSCOPE_TRY(const auto capture, read_text(request, "capture"));
  run.traced = capture != "none";
  const auto mode = capture_from(run.traced ? capture.value_or("all") : "outputs");
  if (!mode) return bad_input("request: \"capture\" must be \"all\", \"fused\" or \"outputs\"");
  run.record.capture = *mode;
  DRIFTSCOPE_TRY(run.record.values, read_values(request, graph));
  DRIFTSCOPE_TRY(run.stream, read_flag(request, "stream"));
  DRIFTSCOPE_TRY(const auto samples, read_int(request, "samples", 1, max_samples));
  run.samples = samples.value_or(0);
  if (run.samples > 0 && run.record.repeat != 1)
    return bad_input("request: \"samples\" and \"repeat\" exclude each other");
  if (run.samples > 0 && run.stream)
    return bad_input("request: \"samples\" and \"stream\" exclude each other");
  DRIFTSCOPE_TRY(run.environment, read_environment(request));
  DRIFTSCOPE_TRY(run.inputs, read_inputs(request, payload, graph));
  if (run.samples > 0) DRIFTSCOPE_CHECK(check_samples(run.inputs, run.samples));
  return run;
}

}  // namespace driftscope
