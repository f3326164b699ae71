// The strict engine: float32 with the same bits on every host, compiler, thread count and SIMD
// width. Each operator's strict definition is in its file in core/ops, the functions' in
// core/numerics/strict_math.hpp; runs either these definitions or a faster kernel with the same bits.
#include "core/runtime/engine.hpp"

#include <fmt/format.h>

#include "core/engines/strict/session.hpp"
#include "core/eval/operator.hpp"
#include "core/numerics/subnormal_rows.hpp"

namespace driftscope {
namespace {

class StrictEngine final : public Engine {
 public:
  [[nodiscard]] const EngineInfo& info() const override {
    static const EngineInfo info = {.name = "strict",
                                    .summary = "float32, the same bits everywhere",
                                    .order = 10,
                                    .same_bits_everywhere = true,
                                    .error_model = keeping_subnormals({}),
                                    .options = {threads_option(),
                                                {.name = "simd",
                                                 .help = "bits of a vector",
                                                 .values = {"128", "256", "512"},
                                                 .default_text = "the widest here"}}};
    return info;
  }
  [[nodiscard]] Availability available() const override { return {}; }

  [[nodiscard]] Availability supports(const Graph& /*graph*/, const Node& node) const override {
    const auto op = find_operator(node);
    if (!op.ok()) return {false, op.error().message};
    if ((*op)->strict_kernel == nullptr) return {false, fmt::format("{} has no strict kernel", node.op_type)};
    return {};
  }

  [[nodiscard]] bool reads_deferred() const override { return true; }

 protected:
  [[nodiscard]] Result<std::unique_ptr<Session>> make_session(std::shared_ptr<const Graph> graph,
                                                              const EngineOptions& options) const override {
    const auto asked = options.values.find("simd");
    DRIFTSCOPE_TRY(SimdTarget simd,
                   choose_simd(asked == options.values.end() ? 0 : std::stoi(asked->second)));
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
