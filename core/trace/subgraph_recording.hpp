// Records the layers inside If, Loop and Scan of a run: their values, their times, which way the run went.
// Of a loop the first iterations are kept, then those whose number is a power of two, and the last, so that a
// long one needs little memory. Client: record.cpp.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/eval/subgraph_watch.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

class SubgraphRecording final : public SubgraphWatch {
 public:
  struct Receiver {
    std::function<bool(const std::string& name)> wants;                   ///< which values are kept
    std::function<Status(const std::string& name, const Tensor&)> value;  ///< receives them
  };
  explicit SubgraphRecording(Receiver receiver) : receiver_(std::move(receiver)) {}

  /// Another run of the model: values are kept of the first alone, times of all.
  void begin_run();

  void enter(const Node& owner, const Subgraph& subgraph, std::int64_t iteration) override;
  void leave() override;
  void finished(const Node& owner, std::int64_t ran) override;
  [[nodiscard]] bool wants_values() const override { return first_run_; }
  [[nodiscard]] bool wants(const Graph& inside, ValueId value) const override;
  Status value(const Graph& inside, ValueId value, const Tensor& tensor) override;
  void node_done(const Graph& inside, NodeId node, std::optional<std::int64_t> time_ns) override;

  /// The first error of the receiver that could not be passed on when it happened.
  [[nodiscard]] const Status& status() const { return status_; }
  /// In the order in which they ran, those inside another before it.
  [[nodiscard]] std::vector<NodeRecord> take_nodes() { return std::move(nodes_); }
  [[nodiscard]] std::vector<ControlFlowRecord> take_control_flow() { return std::move(control_flow_); }

 private:
  // What an iteration made of which it is not known yet whether it is kept.
  struct Kept {
    std::vector<NamedTensor> tensors;
    std::vector<NodeRecord> nodes;
    std::vector<ControlFlowRecord> control_flow;
  };
  // An If, Loop or Scan under way, and what runs inside it.
  struct Level {
    std::string owner;              // with its place
    std::string branch;             // empty: a loop
    std::size_t first_carried = 0;  // of the inputs of the body
    std::size_t end_carried = 0;
    std::vector<std::int64_t> recorded{};
    std::int64_t bytes = 0;  // of them
    std::int64_t iteration = 0;
    std::string scope{};        // of the names inside
    bool sampled = true;        // the iteration is kept; otherwise only if it is the last
    bool shows_inputs = false;  // the values that it starts from are no others' outputs
    Kept kept{};                // of an iteration that is not sampled
  };

  [[nodiscard]] std::string place_of(const Node& node) const;
  [[nodiscard]] Kept* pending();
  Status keep(NamedTensor named);
  void keep(NodeRecord record);
  void keep(ControlFlowRecord record);

  Receiver receiver_;
  bool first_run_ = false;
  bool began_ = false;
  std::vector<Level> levels_;
  std::size_t depth_ = 0;  // levels with an iteration under way; one more may be between two
  std::vector<NodeRecord> nodes_;
  std::map<std::string, std::size_t> places_;  // in nodes_
  std::vector<ControlFlowRecord> control_flow_;
  Status status_;
};

}  // namespace driftscope
