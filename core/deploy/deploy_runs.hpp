// What running the model showed, for the checks that need it: the range of every value on the reference
// engine's side, and whether each target runs, answers with numbers, and keeps its memory. Filled in by
// native/compare/deployment_runs; the checks read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/bench/memory_growth.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

/// What a tensor of real numbers holds.
struct ElementRange {
  DType dtype = DType::undefined;
  double largest = 0;  ///< magnitude of its finite elements
  std::int64_t nan = 0;
  std::int64_t infinite = 0;
  std::int64_t elements = 0;

  [[nodiscard]] bool finite() const { return nan + infinite == 0; }
};

/// Nothing for types that are not floating.
[[nodiscard]] std::optional<ElementRange> range_of(const Tensor& tensor);

/// "3 NaN and 2 infinite of 128 elements".
[[nodiscard]] std::string not_finite_text(const ElementRange& range);

struct NamedRange {
  std::string name;  ///< of the value
  ElementRange range;
};

/// A layer's output, and whether anything that the layer reads holds NaN or infinity.
struct LayerRange {
  std::string node;
  std::string value;
  ElementRange range;
  bool finite_inputs = true;
};

/// The outputs of the graph's nodes in their order; `ranges`: of inputs and of what was recorded. Constants
/// of floating types are looked at, except those that would have to be read from their file.
[[nodiscard]] std::vector<LayerRange> layer_ranges(const Graph& graph, const std::vector<NamedRange>& ranges);

/// One target that was asked to run the model.
struct DeployRun {
  std::string target;
  std::optional<Error> failure = {};  ///< it did not run
  std::vector<NamedRange> outputs = {};
  std::optional<MemoryOverRuns> memory = {};
};

struct DeployRuns {
  std::string input;                     ///< what it ran on, in words
  std::vector<LayerRange> layers = {};   ///< of pc/strict; empty where that did not run
  std::string no_layers = {};            ///< why it did not
  std::vector<NamedRange> outputs = {};  ///< of pc/strict
  std::vector<DeployRun> targets = {};
};

}  // namespace driftscope
