#include "core/engines/gpu/gpu_engine.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/engines/gpu/operator_table.hpp"
#include "core/engines/gpu/session.hpp"
#include "core/eval/operator.hpp"
#include "core/lowering/simplify.hpp"

namespace driftscope::gpu {
namespace {

constexpr const char* default_timeout = "300";

}  // namespace

Availability GpuEngine::supports(const Graph& /*graph*/, const Node& node) const {
  const auto op = find_operator(node);
  if (!op.ok()) return {false, op.error().message};
  if (gpu_operators().find(node) == nullptr && (*op)->strict_kernel == nullptr)
    return {false, fmt::format("{} has neither a shader nor a strict kernel", node.op_type)};
  return {};
}

std::string GpuEngine::option(const EngineOptions& options, const char* name, const char* by_default) {
  const auto found = options.values.find(name);
  return found == options.values.end() ? by_default : found->second;
}

EngineOption GpuEngine::times_option() {
  return {.name = "times",
          .help = "whose times are taken on the GPU, which itself costs time",
          .values = {"traced", "always"},
          .default_text = "traced"};
}

EngineOption GpuEngine::timeout_option() {
  return {.name = "timeout",
          .help = "seconds after which the GPU counts as hung",
          .values = {},
          .min = 1,
          .max = 86'400,
          .default_text = default_timeout};
}

EngineOption GpuEngine::calls_option() {
  return {.name = "calls",
          .help = "whether the trace keeps what was done with the device, as JavaScript",
          .values = {"off", "on"},
          .default_text = "off"};
}

Result<std::unique_ptr<Session>> GpuEngine::make_session(std::shared_ptr<const Graph> graph,
                                                         const EngineOptions& options) const {
  DRIFTSCOPE_TRY(auto device, open_device(api_));
  std::shared_ptr<CallLog> calls;
  if (option(options, "calls", "off") == "on")
    device = calls = std::make_shared<CallLog>(std::move(device), api_);
  DRIFTSCOPE_TRY(SimdTarget simd, choose_simd(0));
  auto resources = std::make_unique<Resources>(std::move(simd), 1);
  std::vector<std::string> labels;
  for (const Node& node : graph->nodes) labels.push_back(node_label(node));
  std::vector<NodeId> producers;
  for (const Value& value : graph->values) producers.push_back(value.producer);
  resources->graph = lowering::simplified(std::move(graph), options.fuse, resources->fallback.threads());
  const auto planner = [this, producers, options, probe = std::shared_ptr<Probe>(), asked = false](
                           Resources& from, Device& on) mutable -> Result<std::optional<Plan>> {
    if (!asked) probe = this->probe(options, on);
    asked = true;
    if (probe != nullptr) {
      DRIFTSCOPE_TRY(const bool known, probe->known());
      if (!known) return std::optional<Plan>();
      probe.reset();
    }
    from.choices = choices(options, on);
    DRIFTSCOPE_TRY(Plan made, plan(*from.graph, producers, options, from.fallback, on));
    return std::optional<Plan>(std::move(made));
  };
  std::int64_t timeout_s = 0;
  const std::string timeout = option(options, "timeout", default_timeout);
  if (std::from_chars(timeout.data(), timeout.data() + timeout.size(), timeout_s).ec != std::errc())
    return bad_input(fmt::format("option timeout={}: expected seconds", timeout));
  const std::int64_t timeout_ns = timeout_s * 1'000'000'000;
  RanWith ran;
  ran.engine = name();
  ran.instruction_set = language_;
  ran.device = "GPU";
  auto session = std::make_unique<GpuSession>(std::move(resources), std::move(device), planner,
                                              std::move(labels), std::move(ran),
                                              option(options, "times", "traced") == "always", timeout_ns);
  session->keep_calls(std::move(calls));
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace driftscope::gpu
