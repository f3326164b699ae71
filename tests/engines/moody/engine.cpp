// An engine with the kinds of runtime faults that a single run does not show: right only the first time,
// right only after it, keeping memory of every run. Otherwise the strict definitions in plain C++, node by
// node. Client: tests of the repeat check and of memory over runs.
#include <fmt/format.h>

#include <cstring>

#include "core/eval/evaluate.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/node_session.hpp"

namespace driftscope {
namespace moody {
namespace {

constexpr std::size_t wrong_elements = 17;
constexpr std::size_t leaked_bytes = std::size_t{256} << 10;

class MoodySession final : public NodeSession {
 public:
  MoodySession(std::shared_ptr<const Graph> graph, std::string mood, NodeId wrong_node)
      : NodeSession(std::move(graph)), mood_(std::move(mood)), wrong_node_(wrong_node), threads_(1) {}
  ~MoodySession() override { kept_.clear(); }

  [[nodiscard]] RanWith ran_with() const override {
    return {.engine = "moody",
            .instruction_set = "scalar",
            .device = "CPU",
            .threads_asked = 1,
            .threads_real = 1,
            .options = {{"mood", mood_}}};
  }

 protected:
  [[nodiscard]] Result<std::vector<Tensor>> run_node(NodeId id,
                                                     std::span<const Tensor* const> inputs) override {
    if (id <= last_) ++run_;
    last_ = id;
    DRIFTSCOPE_TRY(auto outputs, evaluate_strict(graph().nodes[id], inputs, threads_));
    if (id != wrong_node_) return outputs;
    if (mood_ == "leak") leak();
    const bool wrong = (mood_ == "first" && run_ > 1) || (mood_ == "later" && run_ == 1);
    if (wrong && outputs[0].dtype() == DType::float32) {
      DRIFTSCOPE_TRY(Tensor changed,
                     Tensor::from_values<float>(outputs[0].shape(), outputs[0].values<float>()));
      auto values = changed.mutable_values<float>();
      for (std::size_t i = 0; i < wrong_elements && i < values.size(); ++i) values[i] += 0.5f;
      outputs[0] = std::move(changed);
    }
    if (mood_ == "zeros" && run_ > 1 && outputs[0].dtype() == DType::float32) {
      DRIFTSCOPE_TRY(Tensor changed,
                     Tensor::from_values<float>(outputs[0].shape(), outputs[0].values<float>()));
      for (float& x : changed.mutable_values<float>()) x = x == 0.0f ? -x : x;
      outputs[0] = std::move(changed);
    }
    return outputs;
  }

 private:
  void leak() {
    kept_.emplace_back(leaked_bytes);
    std::memset(kept_.back().data(), 1, leaked_bytes);  // else it would take no memory
  }

  std::string mood_;
  NodeId wrong_node_;
  NodeId last_ = no_node;
  int run_ = 0;
  std::vector<std::vector<std::byte>> kept_;
  ThreadPool threads_;
};

class MoodyEngine final : public Engine {
 public:
  [[nodiscard]] const EngineInfo& info() const override {
    static const EngineInfo info = {
        .name = "moody",
        .summary = "wrong in some runs only; for tests",
        .options = {
            {.name = "mood",
             .help = "what is wrong",
             .values = {"none", "first", "later", "zeros", "leak"},
             .default_text = "none"},
            {.name = "node", .help = "where, counted from 0", .min = 0, .max = 1000, .default_text = "0"}}};
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
    const auto mood = options.values.find("mood");
    const auto node = options.values.find("node");
    return std::unique_ptr<Session>(std::make_unique<MoodySession>(
        std::move(graph), mood == options.values.end() ? "none" : mood->second,
        node == options.values.end() ? 0 : static_cast<NodeId>(std::stoi(node->second))));
  }
};

}  // namespace
}  // namespace moody

std::unique_ptr<Engine> make_moody_engine() { return std::make_unique<moody::MoodyEngine>(); }

}  // namespace driftscope
