// An engine for tests, added like any engine, by a folder of its own: every node by the strict definition of
// its operator in plain C++, without SIMD and without prepared kernels. Slow; the strict engine's bits.
// With `repeat` it computes every node several times and fails if the bits differ.
#include <fmt/format.h>

#include <algorithm>

#include "core/eval/evaluate.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/node_session.hpp"

namespace driftscope {
namespace scalar {
namespace {

class ScalarSession final : public NodeSession {
 public:
  ScalarSession(std::shared_ptr<const Graph> graph, int threads, int repeat)
      : NodeSession(std::move(graph)), threads_asked_(threads), repeat_(repeat), threads_(threads) {}

  [[nodiscard]] RanWith ran_with() const override {
    return {.engine = "scalar",
            .instruction_set = "scalar",
            .device = "CPU",
            .threads_asked = threads_asked_,
            .threads_real = threads_.size(),
            .options = {{"repeat", std::to_string(repeat_)}}};
  }

 protected:
  [[nodiscard]] Result<std::vector<Tensor>> run_node(NodeId id,
                                                     std::span<const Tensor* const> inputs) override {
    const Node& node = graph().nodes[id];
    DRIFTSCOPE_TRY(auto outputs, evaluate_strict(node, inputs, threads_));
    for (int again = 1; again < repeat_; ++again) {
      DRIFTSCOPE_TRY(const auto others, evaluate_strict(node, inputs, threads_));
      for (std::size_t i = 0; i < outputs.size(); ++i)
        if (!std::ranges::equal(outputs[i].bytes(), others[i].bytes()))
          return internal_error(
              fmt::format("{}: computed again, output {} has other bits", node_label(node), i));
    }
    return outputs;
  }

 private:
  int threads_asked_;
  int repeat_;
  ThreadPool threads_;
};

class ScalarEngine final : public Engine {
 public:
  [[nodiscard]] const EngineInfo& info() const override {
    static const EngineInfo info = {.name = "scalar",
                                    .summary = "float32 in plain C++, node by node; for tests",
                                    .same_bits_everywhere = true,
                                    .options = {threads_option(),
                                                {.name = "repeat",
                                                 .help = "how often each node is computed",
                                                 .min = 1,
                                                 .max = 100,
                                                 .default_text = "1"}}};
    return info;
  }

  [[nodiscard]] Availability available() const override { return {}; }

  [[nodiscard]] Availability supports(const Graph& /*graph*/, const Node& node) const override {
    const auto op = find_operator(node);
    if (!op.ok()) return {false, op.error().message};
    if ((*op)->strict_kernel == nullptr) return {false, fmt::format("{} has no float kernel", node.op_type)};
    return {};
  }

 protected:
  [[nodiscard]] Result<std::unique_ptr<Session>> make_session(std::shared_ptr<const Graph> graph,
                                                              const EngineOptions& options) const override {
    const auto repeat = options.values.find("repeat");
    const int times = repeat == options.values.end() ? 1 : std::stoi(repeat->second);
    const int threads = options.threads > 0 ? options.threads : usable_processors();
    return std::unique_ptr<Session>(std::make_unique<ScalarSession>(std::move(graph), threads, times));
  }
};

}  // namespace
}  // namespace scalar

std::unique_ptr<Engine> make_scalar_engine() { return std::make_unique<scalar::ScalarEngine>(); }

}  // namespace driftscope
