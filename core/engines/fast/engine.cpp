// The fast engine: XNNPACK's operators on a plan made for the whole graph, our own kernels where
// XNNPACK has no fast one, and the strict kernels, node by node, for the rest; the trace names those
// operators. Results depend on the instruction set; nothing is guaranteed beyond what verify allows.
#include "core/runtime/engine.hpp"

#include <fmt/format.h>

#include "core/engines/fast/lowering.hpp"
#include "core/engines/fast/session.hpp"
#include "core/eval/operator.hpp"
#include "core/lowering/simplify.hpp"

namespace driftscope {
namespace {

using namespace fast;

// "Gather 2, LayerNormalization 5".
std::string list_of(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  return text;
}

EngineOption winograd_option() {
  return {.name = "winograd",
          .help = "convolutions by fewer multiplications; small: weights grow less than twofold",
          .values = {"auto", "small", "off"},
          .default_text = "auto"};
}

WinogradChoice winograd_choice(const EngineOptions& options) {
  const auto given = options.values.find(winograd_option().name);
  if (given == options.values.end() || given->second == "auto") return WinogradChoice::automatic;
  return given->second == "small" ? WinogradChoice::small : WinogradChoice::off;
}

// XNNPACK asks for subnormal numbers to be read and written as zeros wherever the processor can
// (PTHREADPOOL_FLAG_DISABLE_DENORMALS, src/operator-run.c): x86 can, WebAssembly cannot.
// The functions were measured on all floats (tests/bench/fast_functions.cpp), the largest errors of
// SSE2, SSE4.1, AVX, AVX2 with FMA, SIMD128 and relaxed SIMD: tanh 6.82 ULP (SSE2 and AVX; 5.30 with
// FMA), sigmoid 4.85 (AVX; 4.73 AVX2), and 1 + erf(x/√2) inside of Gelu 5.3e-7 (SSE2 and AVX).
ErrorModel xnnpack_model() {
  ErrorModel model;
  model.absolute = 0x1p-126;
  model.flushes_subnormals = true;
  model.tanh.ulp = 7.0;
  model.sigmoid.ulp = 5.0;
  model.gelu_erf.absolute = 6e-7;
  return model;
}

class FastEngine final : public Engine {
 public:
  [[nodiscard]] const EngineInfo& info() const override {
    static const EngineInfo info = {.name = "fast",
                                    .summary = "XNNPACK and fused operators; bits depend on the processor",
                                    .order = 20,
                                    .error_model = xnnpack_model(),
                                    .options = {threads_option(), winograd_option()}};
    return info;
  }

  [[nodiscard]] Availability available() const override {
    const Status status = initialize_xnnpack();
    return status.ok() ? Availability{} : Availability{false, status.error().message};
  }

  [[nodiscard]] Availability supports(const Graph& /*graph*/, const Node& node) const override {
    const auto op = find_operator(node);
    if (!op.ok()) return {false, op.error().message};
    if (fast_operators().find(node) == nullptr && (*op)->strict_kernel == nullptr)
      return {false, fmt::format("{} has neither a fast nor a strict kernel", node.op_type)};
    return {};
  }

  [[nodiscard]] bool reads_deferred() const override { return true; }

 protected:
  [[nodiscard]] Result<std::unique_ptr<Session>> make_session(std::shared_ptr<const Graph> graph,
                                                              const EngineOptions& options) const override {
    DRIFTSCOPE_CHECK(initialize_xnnpack());
    DRIFTSCOPE_TRY(SimdTarget simd, choose_simd(0));
    const int threads = options.threads > 0 ? options.threads : usable_processors();
    auto resources = std::make_unique<Resources>(std::move(simd), threads);
    DRIFTSCOPE_CHECK(resources->make_pool());
    std::vector<std::string> node_labels;
    for (const Node& node : graph->nodes) node_labels.push_back(node_label(node));
    std::vector<NodeId> producers;
    for (const Value& value : graph->values) producers.push_back(value.producer);
    const auto own = simplified(std::move(graph), options.fuse, resources->fallback.threads());
    resources->graph = own;
    Lowering lowering(*own, std::move(producers), {.fuse = options.fuse, .hand_over = options.defer_values},
                      resources->pool(), resources->fallback, winograd_choice(options));
    DRIFTSCOPE_TRY(Plan plan, lowering.run());
    release_constants(*own, plan);

    RanWith ran;
    ran.engine = name();
    ran.instruction_set = resources->fallback.simd().name;
    ran.device = "CPU";
    ran.threads_asked = threads;
    ran.threads_real = resources->fallback.threads().size();
    if (!plan.on_fallback.empty()) ran.options["on_strict"] = list_of(plan.on_fallback);
    if (!lowering.winograd_tiles().empty()) ran.options["by_winograd"] = list_of(lowering.winograd_tiles());
    std::vector<std::string> labels;
    for (const PlannedNode& node : plan.nodes)
      labels.push_back(node.node == no_node ? "a step between nodes" : node_labels[node.node]);
    auto session = std::make_unique<FastSession>(std::move(resources), std::move(plan), std::move(labels),
                                                 std::move(ran));
    DRIFTSCOPE_CHECK(session->prepare());
    return std::unique_ptr<Session>(std::move(session));
  }
};

}  // namespace

std::unique_ptr<Engine> make_fast_engine() { return std::make_unique<FastEngine>(); }

}  // namespace driftscope
