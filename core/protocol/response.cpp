#include "core/protocol/response.hpp"

#include <algorithm>

#include "core/base/json.hpp"
#include "core/engines/strict/simd/target.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/platform/platform.hpp"
#include "core/results/metric_columns.hpp"
#include "core/runtime/engine.hpp"
#include "core/trace/tensors_by_name.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

constexpr std::int64_t max_values = 1000;

// The enumerations of the schema have the same order as those of the table of metrics.
static_assert(messages::name_of(static_cast<messages::MetricSource>(MetricSource::run)) == "run");
static_assert(messages::name_of(static_cast<messages::Better>(Better::neither)) == "neither");
static_assert(messages::name_of(static_cast<messages::MetricFormat>(MetricFormat::share)) == "share");
static_assert(messages::name_of(static_cast<messages::MetricFormat>(MetricFormat::time)) == "time");

using Values = std::optional<std::vector<json>>;

Values values_of(const Tensor& tensor) {
  Values values;
  visit_number(tensor.dtype(), [&]<class E>() {
    const auto all = elements_of<E>(tensor);
    std::vector<json>& first = values.emplace();
    for (std::size_t i = 0; i < all.size() && std::ssize(first) < max_values; ++i) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(all[i])>, typename E::Value>)
        first.emplace_back(all[i]);
      else
        first.emplace_back(E::to_double(all[i]));
    }
  });
  return values;
}

std::vector<std::int64_t> sizes_of(const Tensor& tensor) {
  return {tensor.shape().begin(), tensor.shape().end()};
}

std::vector<messages::Layer> describe_layers(const Trace& trace) {
  std::vector<messages::Layer> layers;
  const TensorsByName tensors(trace);
  for (const NodeRecord& node : trace.nodes) {
    const std::string output = node.outputs.empty() ? std::string() : node.outputs.front();
    const Tensor* tensor = tensors.find(output);
    layers.push_back({node.name, node.op, output,
                      tensor != nullptr ? std::optional(sizes_of(*tensor)) : std::nullopt,
                      steady_time_ns(node)});
  }
  return layers;
}

messages::EngineKind kind_of(EngineKind kind) {
  switch (kind) {
    case EngineKind::reference: return messages::EngineKind::reference;
    case EngineKind::own: return messages::EngineKind::own;
    case EngineKind::peer: break;
  }
  return messages::EngineKind::peer;
}

messages::Option describe_option(const EngineOption& option) {
  messages::Option described{.name = option.name,
                             .help = option.help,
                             .default_ = option.default_text,
                             .values = {},
                             .min = {},
                             .max = {}};
  if (option.version) return described;
  if (option.values.empty()) {
    described.min = option.min;
    described.max = option.max;
  } else {
    described.values.emplace(option.values.begin(), option.values.end());
  }
  return described;
}

messages::Engine describe_engine(const Engine& engine) {
  const EngineInfo& info = engine.info();
  Availability here = engine.available();
  std::vector<messages::Option> options;
  for (const EngineOption& option : info.options) options.push_back(describe_option(option));
  return {.name = std::string(info.name),
          .summary = std::string(info.summary),
          .kind = kind_of(info.kind),
          .device = info.device == DeviceKind::gpu ? messages::Device::gpu : messages::Device::cpu,
          .on_pc = info.on_pc,
          .in_browsers = info.in_browsers,
          .same_bits_everywhere = info.same_bits_everywhere,
          .options = std::move(options),
          .dotted_options = info.dotted_options,
          .browser_files = info.browser_files,
          .available = here.ok,
          .reason = std::move(here.reason)};
}

std::vector<messages::Metric> describe_metrics() {
  std::vector<messages::Metric> described;
  for (const MetricSource source : {MetricSource::verify, MetricSource::compare, MetricSource::run}) {
    const MetricList in_tables = table_metrics(source);
    const auto add = [&](Metric metric, bool table) {
      const MetricRow& row = row_of(metric);
      described.push_back({.source = static_cast<messages::MetricSource>(source),
                           .key = std::string(row.key),
                           .title = std::string(row.title),
                           .help = std::string(appearance(metric).help),
                           .better = static_cast<messages::Better>(row.better),
                           .format = static_cast<messages::MetricFormat>(row.format),
                           .table = table});
    };
    for (const Metric metric : in_tables) add(metric, true);
    for (std::size_t i = 0; i < metric_count; ++i) {
      const auto metric = static_cast<Metric>(i);
      if (source_of(metric) == source && appearance(metric).table == 0) add(metric, false);
    }
  }
  return described;
}

}  // namespace

messages::FinishResponse describe_trace(const Trace& trace, const std::vector<std::string>& outputs) {
  messages::FinishResponse described;
  described.layers = describe_layers(trace);
  for (const std::string& name : outputs)
    if (const Tensor* tensor = trace.find(name))
      described.outputs.push_back(
          {name, std::string(dtype_name(tensor->dtype())), sizes_of(*tensor), values_of(*tensor)});
  for (const MemoryRecord& sample : trace.memory)
    described.memory.push_back({sample.t_ms, sample.bytes, sample.kind});
  described.run = parse_json(trace.run);
  return described;
}

messages::CapabilitiesResponse describe_build() {
  messages::CapabilitiesResponse build;
  for (const auto& engine : engines()) build.engines.push_back(describe_engine(*engine));
  build.metrics = describe_metrics();
  build.platform = platform_name();
  build.threads = usable_processors();
  build.threads_available = threads_available();
  build.instruction_set = simd_targets().front().name;
  return build;
}

}  // namespace driftscope
