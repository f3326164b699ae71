// Recorded values that nothing was computed from: what a runtime handed back for a value is wrong, and the
// nodes that read it are right for what it should have been. A buffer that was used again, or never written
// because the runtime folded the value, was read back; nothing in the model was computed wrongly. Client:
// verify.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "core/verify/derivation.hpp"
#include "core/verify/layer_verdict.hpp"

namespace driftscope {

/// How a layer was judged.
struct JudgedLayer {
  NodeId node = no_node;
  std::size_t output = 0;
  std::vector<NodeId> group;
};

/// References of the values whose layers are faults: as many as fit into a bounded memory, the others are
/// derived again where they are needed.
class FaultyReferences {
 public:
  explicit FaultyReferences(std::size_t max_bytes = std::size_t{128} << 20) : left_(max_bytes) {}

  void add(ValueId value, Evaluated<Bounded> reference);
  /// By value; nothing: it was not kept.
  [[nodiscard]] const std::map<ValueId, std::optional<Evaluated<Bounded>>>& all() const { return all_; }
  [[nodiscard]] bool empty() const { return all_.empty(); }

 private:
  std::size_t left_;
  std::map<ValueId, std::optional<Evaluated<Bounded>>> all_;
};

/// Takes back what is charged to nodes that evidently did not read the faulty value which was recorded before
/// them; and the fault of that value, if it is a constant and all that read it are right for what it should
/// have been. `judged`: in the order of `layers`; entries without a node were not judged.
void excuse_unread_values(const Graph& graph, const RecordedValues& recorded, const Derivation& derivation,
                          const std::vector<JudgedLayer>& judged, const FaultyReferences& faulty,
                          std::vector<LayerVerdict>& layers, ThreadPool& threads);

}  // namespace driftscope
