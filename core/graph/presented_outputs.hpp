// Classifiers of scikit-learn, LightGBM and XGBoost end with nodes that only present the result: ZipMap,
// which makes a map from labels to probabilities for each row, and nodes that make strings of labels. What
// they make is no tensor that can be held here, and what goes into them is the result. Client: build_graph.
//
// Maps are not a kind of value here for that reason: every engine, trace and judgement would have to know
// them, for one operator that computes nothing. Runtimes still run the user's model with these nodes.
#pragma once

#include <optional>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/model/model.hpp"

namespace driftscope {

/// The same graph without such nodes, as far as outputs that cannot be held need them and nobody else does;
/// what a ZipMap reads is an output instead, with a note. Classifiers lose a label of strings that nobody
/// reads. Names of nodes stay what they were. Nothing: there is no such node.
[[nodiscard]] std::optional<ModelGraph> without_presentation(const ModelGraph& file,
                                                             std::vector<ModelNote>& notes);

}  // namespace driftscope
