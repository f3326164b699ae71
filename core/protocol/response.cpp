#include "core/protocol/response.hpp"

#include <algorithm>

#include "core/base/json.hpp"
#include "core/engines/strict/simd/target.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/engine.hpp"
#include "core/trace/tensors_by_name.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

constexpr std::int64_t max_values = 1000;

// Median without the first run, which warms up; 0 when there is none.
std::int64_t typical_time(std::vector<std::int64_t> times) {
  if (times.empty()) return 0;
  if (times.size() > 1) times.erase(times.begin());
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

template <class T>
json first_values(const Tensor& tensor) {
  const auto count = static_cast<std::size_t>(std::min(tensor.elements(), max_values));
  return json(std::vector<T>(tensor.values<T>().begin(),
                             tensor.values<T>().begin() + static_cast<std::ptrdiff_t>(count)));
}

json values_of(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::float32: return first_values<float>(tensor);
    case DType::float64: return first_values<double>(tensor);
    case DType::int32: return first_values<std::int32_t>(tensor);
    case DType::int64: return first_values<std::int64_t>(tensor);
    case DType::uint8:
    case DType::boolean: return first_values<std::uint8_t>(tensor);
    default: return nullptr;
  }
}

json describe_layers(const Trace& trace) {
  json layers = json::array();
  const TensorsByName tensors(trace);
  for (const NodeRecord& node : trace.nodes) {
    const std::string output = node.outputs.empty() ? std::string() : node.outputs.front();
    const Tensor* tensor = tensors.find(output);
    layers.push_back({{"node", node.name},
                      {"op", node.op},
                      {"output", output},
                      {"shape", tensor ? json(tensor->shape()) : json(nullptr)},
                      {"time_ns", typical_time(node.time_ns)}});
  }
  return layers;
}

std::string_view kind_name(EngineKind kind) {
  switch (kind) {
    case EngineKind::reference: return "reference";
    case EngineKind::own: return "own";
    case EngineKind::peer: return "peer";
  }
  return "";
}

json describe_option(const EngineOption& option) {
  json described = {{"name", option.name}, {"help", option.help}, {"default", option.default_text}};
  if (option.values.empty())
    described.update({{"min", option.min}, {"max", option.max}});
  else
    described["values"] = option.values;
  return described;
}

}  // namespace

json describe_trace(const Trace& trace, const std::vector<std::string>& outputs) {
  json described = json::array();
  for (const std::string& name : outputs) {
    const Tensor* tensor = trace.find(name);
    if (!tensor) continue;
    described.push_back({{"name", name},
                         {"dtype", dtype_name(tensor->dtype())},
                         {"shape", tensor->shape()},
                         {"values", values_of(*tensor)}});
  }
  json memory = json::array();
  for (const MemoryRecord& sample : trace.memory)
    memory.push_back({{"t_ms", sample.t_ms}, {"bytes", sample.bytes}, {"kind", sample.kind}});
  return {{"layers", describe_layers(trace)},
          {"outputs", described},
          {"memory", memory},
          {"run", parse_json(trace.run)}};
}

json describe_engine(const Engine& engine) {
  const EngineInfo& info = engine.info();
  const Availability here = engine.available();
  json options = json::array();
  for (const EngineOption& option : info.options) options.push_back(describe_option(option));
  return {{"name", info.name},
          {"summary", info.summary},
          {"kind", kind_name(info.kind)},
          {"device", info.device == DeviceKind::gpu ? "gpu" : "cpu"},
          {"on_pc", info.on_pc},
          {"in_browsers", info.in_browsers},
          {"same_bits_everywhere", info.same_bits_everywhere},
          {"options", options},
          {"dotted_options", info.dotted_options},
          {"browser_files", info.browser_files},
          {"available", here.ok},
          {"reason", here.reason}};
}

json describe_build() {
  json list = json::array();
  for (const auto& engine : engines()) list.push_back(describe_engine(*engine));
  return {{"engines", list},
          {"platform", platform_name()},
          {"threads", usable_processors()},
          {"threads_available", threads_available()},
          {"instruction_set", simd_targets().front().name}};
}

}  // namespace driftscope
