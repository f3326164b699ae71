// The strict engine: float32 with the same bits on every host, compiler, thread count and SIMD
// width. Each operator's strict definition is in its file in core/ops, the functions' in
// core/numerics/strict_math.hpp; what runs here is that, or a faster kernel with the same bits.
#include "core/runtime/engine.hpp"

#include <fmt/format.h>

#include "core/engines/strict/session.hpp"
#include "core/eval/operator.hpp"

namespace driftscope {
namespace {

Result<int> read_simd(const std::string& text) {
  for (const int bits : {128, 256, 512})
    if (text == std::to_string(bits)) return bits;
  return bad_input(fmt::format("option simd={}: expected 128, 256 or 512 (bits)", text));
}

class StrictEngine final : public Engine {
 public:
  [[nodiscard]] std::string name() const override { return "strict"; }
  [[nodiscard]] Availability available() const override { return {}; }

  [[nodiscard]] Availability supports(const Graph& /*graph*/, const Node& node) const override {
    const auto op = find_operator(node);
    if (!op.ok()) return {false, op.error().message};
    if ((*op)->strict_kernel == nullptr) return {false, fmt::format("{} has no strict kernel", node.op_type)};
    return {};
  }

  [[nodiscard]] bool reads_deferred() const override { return true; }

  [[nodiscard]] Result<std::unique_ptr<Session>> prepare(std::shared_ptr<const Graph> graph,
                                                         const EngineOptions& options) const override {
    int simd_bits = 0;
    for (const auto& [key, value] : options.values) {
      if (key != "simd")
        return bad_input(
            fmt::format("engine strict has no option \"{}\". Its options: threads=N "
                        "(default: all processors), simd=128|256|512 (default: the "
                        "widest here)",
                        key));
      DRIFTSCOPE_TRY(simd_bits, read_simd(value));
    }
    DRIFTSCOPE_TRY(SimdTarget simd, choose_simd(simd_bits));
    for (const Node& node : graph->nodes)
      if (auto support = supports(*graph, node); !support.ok) return unsupported(support.reason);
    const int threads = options.threads > 0 ? options.threads : usable_processors();
    auto session = std::make_unique<StrictSession>(graph, std::move(simd), threads, options.values);
    graph.reset();
    DRIFTSCOPE_CHECK(session->prepare());
    return std::unique_ptr<Session>(std::move(session));
  }
};

}  // namespace

std::unique_ptr<Engine> make_strict_engine() { return std::make_unique<StrictEngine>(); }

}  // namespace driftscope
