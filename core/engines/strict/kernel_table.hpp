// The faster kernels of the strict engine. The scalar kernel of an operator (evaluate_strict)
// defines the bits; a kernel here must give exactly these, or decline a node when it is prepared.
// One file per kernel in kernels/; the table is generated from that folder at configure time (each
// file FOO.cpp defines `void driftscope::strict::foo::add_to(StrictKernelTable&)`), never edited. Clients:
// engine.cpp, tests.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/engines/strict/simd/target.hpp"
#include "core/graph/graph.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {

/// The results of nodes that depend only on constants, by value.
using FoldedValues = std::vector<std::optional<Tensor>>;

/// The context in which a session prepares a kernel. Kernels keep a copy: the referenced objects outlive
/// them.
struct StrictSite {
  const Graph& graph;
  const Node& node;
  const SimdTarget& simd;
  ThreadPool& threads;
  const FoldedValues& folded;     ///< empty where nothing was folded
  DType stored = DType::float32;  ///< what floats are widened from, and rounded to afterwards

  [[nodiscard]] bool has_input(std::size_t i) const {
    return i < node.inputs.size() && node.inputs[i] != no_value;
  }
  [[nodiscard]] DType dtype(std::size_t i) const { return graph.values[node.inputs[i]].dtype; }
  /// Nothing where a size is not known before the run.
  [[nodiscard]] std::optional<Shape> shape(std::size_t i) const {
    return graph.values[node.inputs[i]].static_shape();
  }
  [[nodiscard]] std::optional<Shape> output_shape() const {
    return graph.values[node.outputs[0]].static_shape();
  }
  /// The value of an initializer or constant, or of what was computed from these, else null.
  [[nodiscard]] const Tensor* constant(std::size_t i) const;
  /// Whether all given inputs and the one output are float32 and of known shape.
  [[nodiscard]] bool all_float32() const;
};

/// One node, prepared: weights packed, plans made. Runs again and again, never two at once.
class StrictKernel {
 public:
  virtual ~StrictKernel() = default;
  /// Like NodeSession::run_node; the inputs have the dtypes and shapes of preparation.
  [[nodiscard]] virtual Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) = 0;
  /// Whether run reads the elements of this input. Packed weights may have been released: the
  /// input is then an empty tensor.
  [[nodiscard]] virtual bool reads(std::size_t /*input*/) const { return true; }
};

/// Null if this kernel does not support the node: the scalar kernel then runs.
using PrepareStrictKernel = std::unique_ptr<StrictKernel> (*)(const StrictSite& site);

struct StrictKernelRow {
  PrepareStrictKernel prepare = nullptr;
  /// An input that may still be deferred during preparation, which loads it only if necessary.
  std::optional<std::size_t> packed;
};

class StrictKernelTable {
 public:
  void add(std::string_view op_type, StrictKernelRow row) { rows_[std::string(op_type)] = row; }
  void add(std::string_view op_type, PrepareStrictKernel prepare) {
    add(op_type, StrictKernelRow{prepare, std::nullopt});
  }
  /// `op_type` of another domain than ONNX's own as in "ai.onnx.ml.TreeEnsemble". The kernel for an operator,
  /// else a row without one.
  [[nodiscard]] StrictKernelRow find(std::string_view domain, std::string_view op_type) const;

 private:
  std::map<std::string, StrictKernelRow, std::less<>> rows_;
};

/// All kernels of this build (generated: build/generated/strict_registry.cpp).
[[nodiscard]] const StrictKernelTable& strict_kernels();

}  // namespace driftscope
