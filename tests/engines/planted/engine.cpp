// An engine that is wrong in every run, in all nodes of chosen operators. Otherwise the strict definitions in
// plain C++, node by node. Client: tests of what wrong layers do to the answer.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/eval/evaluate.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/node_session.hpp"

namespace driftscope {
namespace planted {
namespace {

using Mistakes = std::map<std::string, std::string>;  // "slightly", "reversed" by operator

Result<Tensor> wrong(const Tensor& right, const std::string& how) {
  DRIFTSCOPE_TRY(Tensor made, Tensor::from_values<float>(right.shape(), right.values<float>()));
  const auto values = made.mutable_values<float>();
  if (how == "slightly") values[0] += 0.125f;
  if (how == "reversed") std::ranges::reverse(values);
  return made;
}

class PlantedSession final : public NodeSession {
 public:
  PlantedSession(std::shared_ptr<const Graph> graph, Mistakes mistakes)
      : NodeSession(std::move(graph)), mistakes_(std::move(mistakes)), threads_(1) {}

  [[nodiscard]] RanWith ran_with() const override {
    return {.engine = "planted",
            .instruction_set = "scalar",
            .device = "CPU",
            .threads_asked = 1,
            .threads_real = 1,
            .options = {}};
  }

 protected:
  [[nodiscard]] Result<std::vector<Tensor>> run_node(NodeId id,
                                                     std::span<const Tensor* const> inputs) override {
    DRIFTSCOPE_TRY(auto outputs, evaluate_strict(graph().nodes[id], inputs, threads_));
    const auto found = mistakes_.find(graph().nodes[id].op_type);
    if (found == mistakes_.end() || outputs[0].dtype() != DType::float32) return outputs;
    DRIFTSCOPE_TRY(outputs[0], wrong(outputs[0], found->second));
    return outputs;
  }

 private:
  Mistakes mistakes_;
  ThreadPool threads_;
};

class PlantedEngine final : public Engine {
 public:
  [[nodiscard]] const EngineInfo& info() const override {
    const auto option = [](const char* name) {
      return EngineOption{.name = name,
                          .help = "how it is wrong",
                          .values = {"right", "slightly", "reversed"},
                          .default_text = "right"};
    };
    static const EngineInfo info = {.name = "planted",
                                    .summary = "wrong in chosen operators; for tests",
                                    .options = {option("conv"), option("gemm")}};
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
    Mistakes mistakes;
    for (const auto& [option, op] : {std::pair("conv", "Conv"), std::pair("gemm", "Gemm")})
      if (const auto given = options.values.find(option); given != options.values.end())
        mistakes[op] = given->second;
    return std::unique_ptr<Session>(std::make_unique<PlantedSession>(std::move(graph), std::move(mistakes)));
  }
};

}  // namespace
}  // namespace planted

std::unique_ptr<Engine> make_planted_engine() { return std::make_unique<planted::PlantedEngine>(); }

}  // namespace driftscope
