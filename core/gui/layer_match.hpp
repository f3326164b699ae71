// Which layer of one run corresponds to which layer of another. Runs of one model match by the names of
// values; if a runtime renames them, by position between two layers that match by name, if shape and dtype
// agree, and this is reported. Client: snapshot.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/graph/topology.hpp"
#include "core/results/layer_results.hpp"
#include "core/trace/trace.hpp"

namespace driftscope::gui {

/// A layer in one run: the output of a node.
struct RunLayer {
  std::string output;  ///< value name
  std::string node;    ///< empty when the run does not say
  std::string op;
  std::size_t node_place = no_place;    ///< among the run's node records
  std::size_t tensor_place = no_place;  ///< among its tensors; none when it was not recorded
  DType dtype = DType::undefined;       ///< of the tensor
  Shape shape;
  bool constant = false;  ///< as the run says
  bool inside = false;    ///< an If, Loop or Scan: the model's structure need not name it
};

/// The layers of one run, in its order. Without node records every tensor is a layer.
class RecordedTensors;
[[nodiscard]] std::vector<RunLayer> layers_of(const RecordedTensors& run);
/// The same of a run whose tensors are not available.
[[nodiscard]] std::vector<RunLayer> layers_of(const Trace& about);

struct MatchedLayer {
  std::string output;
  std::string node;
  std::string op;
  bool constant = false;  ///< as the model says
  /// Per run the index in its layers_of, or no_place.
  std::vector<std::size_t> places;
  /// Per run how it was matched, unless by name: "matched by position and shape: 'conv1_out'".
  std::vector<std::string> notes;
};

/// Rows for all runs, in the model's order where it is known, else in that of the first run; a layer
/// that only a later run has follows the one before it there.
[[nodiscard]] std::vector<MatchedLayer> match_layers(std::span<const std::vector<RunLayer>> runs,
                                                     const Topology* topology = nullptr);

}  // namespace driftscope::gui
