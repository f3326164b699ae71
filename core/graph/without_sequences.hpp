// Sequences and optionals hold tensors and compute nothing: what PyTorch writes for lists. Where it is known
// when the file is read which tensor a node takes out of them, the graph is the same without them: a
// SplitToSequence and a SequenceAt are a Gather, say. They are not a kind of value here: every engine, trace
// and judgement would have to know them. Client: build_graph.
#pragma once

#include <optional>
#include <vector>

#include "core/model/model.hpp"

namespace driftscope {

/// The same model without such nodes, in its subgraphs as well; nodes keep their names, and those that take
/// tensors out become nodes of tensors. Of sequences that are outputs the tensors are outputs instead, with a
/// note. Nothing: there are none, or some of them depend on what is computed.
[[nodiscard]] std::optional<ModelGraph> without_sequences(const ModelGraph& file, std::int64_t opset,
                                                          std::vector<ModelNote>& notes);

}  // namespace driftscope
