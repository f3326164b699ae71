// Compares an original with a converted model, layer by layer, from what both computed from the same input:
// which values are the same, how far they have drifted, and whether each of B's layers computes what A's
// does. For the last, B's recorded values replace A's and are verified: A's operator with A's weights on B's
// inputs against B's output, so that an error is charged to the layer that makes it. Clients: the command
// line. It runs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/convert_check/alignment.hpp"
#include "core/convert_check/explain.hpp"
#include "core/results/comparison_view.hpp"
#include "core/verify/verify.hpp"

namespace driftscope::convert {

/// A layer that both have.
struct CheckedLayer {
  ValuePair values;
  std::string node;  ///< of A that makes it
  std::string op;
  std::string node_b;
  std::string op_b;
  Shape shape;  ///< of A
  bool output = false;
  Metrics drift;  ///< B against A, accumulated from the inputs on
  std::optional<LayerVerdict>
      judged;          ///< B's layer in isolation; nothing for inputs and what cannot be judged
  std::string reason;  ///< why there is no drift: another type, another shape
};

struct Check {
  Alignment alignment;
  std::vector<CheckedLayer> layers;
  std::vector<Explanation> explanations;  ///< of layers that diverge, in their order
  std::vector<Explanation> hidden;        ///< constants that differ without an effect on this input
  Verdict verdict = Verdict::missing;     ///< of B's worst layer
  /// The first layer of `layers` whose verdict is fault.
  std::optional<std::size_t> first_parting;
  std::string judged_by;  ///< "A" or "B": whose operators the values were judged with
};

/// One of the graphs must be there; with both, A's operators judge. The traces must be of one input. Errors:
/// nothing could be compared, an input has no partner.
[[nodiscard]] Result<Check> check_conversion(const Side& a, const Side& b, const ValueMap& map,
                                             ThreadPool& threads, const VerifyProgress& progress = {});

/// A's inputs under the names, in the order of axes and of the types of `graph`'s inputs: what B is to be run
/// with. By the map, by name, then by place. Errors: no partner, a shape that does not fit.
struct MatchedInputs {
  std::vector<NamedTensor> tensors;
  std::vector<ValuePair> pairs;
};
[[nodiscard]] Result<MatchedInputs> match_inputs(const std::vector<NamedTensor>& inputs, const Graph& graph,
                                                 const ValueMap& map);

/// The map with other orders of the inputs' axes that fit their shapes as well, up to `limit` of them:
/// 1x3x3x3 may be NCHW or NHWC.
[[nodiscard]] std::vector<ValueMap> other_orders(const std::vector<NamedTensor>& inputs, const Graph& graph,
                                                 const ValueMap& map, const MatchedInputs& matched,
                                                 std::size_t limit);

/// The map with the pairs of inputs that were found.
[[nodiscard]] ValueMap with_inputs(ValueMap map, const MatchedInputs& inputs);

/// The same for samples that are stacked along a leading axis.
[[nodiscard]] Result<Tensor> stacked_in_order(const Tensor& stacked, const ValuePair& pair,
                                              const Graph& graph);

}  // namespace driftscope::convert
