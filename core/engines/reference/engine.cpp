// The reference engine: every node in double by its reference kernel, its outputs rounded to their
// own type before the next node reads them, so that its trace is the correctly rounded one.
// Slow and complete; the other engines are verified against it.
#include "core/eval/evaluate.hpp"
#include "core/numerics/subnormal_rows.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/node_session.hpp"

namespace driftscope {
namespace {

class ReferenceSession final : public NodeSession {
 public:
  ReferenceSession(std::shared_ptr<const Graph> graph, int threads_asked)
      : NodeSession(std::move(graph)), threads_asked_(threads_asked), threads_(threads_asked) {}

  [[nodiscard]] RanWith ran_with() const override {
    RanWith ran;
    ran.engine = "reference";
    ran.instruction_set = "double precision, scalar";
    ran.device = "CPU";
    ran.threads_asked = threads_asked_;
    ran.threads_real = threads_.size();
    return ran;
  }

 protected:
  [[nodiscard]] Result<std::vector<Tensor>> run_node(NodeId id,
                                                     std::span<const Tensor* const> inputs) override {
    std::vector<Evaluated<double>> lifted(inputs.size());
    std::vector<const Evaluated<double>*> operands(inputs.size(), nullptr);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr) continue;
      lifted[i] = known<double>(*inputs[i]);
      operands[i] = &lifted[i];
    }
    const Node& node = graph().nodes[id];
    DRIFTSCOPE_TRY(const auto results, evaluate<double>(node, operands, threads_));
    std::vector<Tensor> outputs(results.size());
    for (std::size_t i = 0; i < results.size(); ++i)
      if (node.outputs[i] != no_value) {
        DRIFTSCOPE_TRY(outputs[i], lower(results[i]));
      }
    return outputs;
  }

 private:
  int threads_asked_;
  ThreadPool threads_;
};

class ReferenceEngine final : public Engine {
 public:
  [[nodiscard]] const EngineInfo& info() const override {
    static const EngineInfo info = {.name = "reference",
                                    .summary = "double, with error bounds: defines the correct result; slow",
                                    .order = 90,
                                    .kind = EngineKind::reference,
                                    .same_bits_everywhere = true,
                                    .error_model = keeping_subnormals({}),
                                    .options = {threads_option()}};
    return info;
  }
  [[nodiscard]] Availability available() const override { return {}; }

  [[nodiscard]] Availability supports(const Graph& /*graph*/, const Node& node) const override {
    const auto op = find_operator(node);
    return op.ok() ? Availability{} : Availability{false, op.error().message};
  }

 protected:
  [[nodiscard]] Result<std::unique_ptr<Session>> make_session(std::shared_ptr<const Graph> graph,
                                                              const EngineOptions& options) const override {
    const int threads = options.threads > 0 ? options.threads : usable_processors();
    return std::unique_ptr<Session>(std::make_unique<ReferenceSession>(std::move(graph), threads));
  }
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine() { return std::make_unique<ReferenceEngine>(); }

}  // namespace driftscope
