// Other ways to compute an operator, tried on a layer's own inputs: correct ones, whose errors may exceed
// those of a sum in any order or of a function within 4 ULP (Winograd's convolutions, tanh as 2σ(2x) − 1),
// and faulty ones, the causes of faults (a bias left out). A variant is a row of a file in variants/: each
// FOO.cpp defines `void driftscope::variants::foo::add_to(VariantTable&)`; the table is generated from the
// folder at configure time, never edited. Clients: judges (variants.cpp, causes.cpp), convert_check.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/trace/trace.hpp"
#include "core/verify/judge.hpp"
#include "core/verify/verify_element.hpp"

namespace driftscope {

/// What a node reads in place of an input; made when it is tried, for weights are large.
struct OtherInput {
  std::size_t place = 0;
  std::function<std::optional<Tensor>()> make;
};
[[nodiscard]] inline OtherInput other_input(std::size_t place, Tensor tensor) {
  return {place, [tensor = std::move(tensor)]() -> std::optional<Tensor> { return tensor; }};
}

/// Sources of elements that are not of the right output.
inline constexpr std::int64_t source_zero = -1;
inline constexpr std::int64_t source_nan = -2;
inline constexpr std::int64_t source_infinity = -3;
inline constexpr std::int64_t source_smallest = -4;  ///< the smallest positive normal float32
inline constexpr std::int64_t source_negative_infinity = -5;

/// One change of a computation. It has its own bounds, which every element must meet.
struct Candidate {
  std::optional<ErrorModel> model = {};  ///< other accuracies
  /// Other attributes, inputs left out; of a group one operator in place of several of its nodes.
  std::optional<Node> node = {};
  std::vector<OtherInput> inputs = {};
  /// The result is stored in this narrower type: every recorded element must be one of its numbers.
  DType stored_as = DType::undefined;
  /// Element i of the output is that of the right one at source(i), or what a negative source stands for.
  std::function<std::int64_t(std::int64_t i)> source = {};
  /// Element i is that many times as large: means with another divisor.
  std::function<double(std::int64_t i)> factor = {};
  std::vector<std::pair<std::string, double>> parameters = {};  ///< of the finding
  std::string detail = {};                                      ///< of its sentence: "along axis 1"

  /// Whether it is made of the elements of the right output.
  [[nodiscard]] bool rearranges() const { return source || factor; }
};

/// Output 0 in float32 by another algorithm (inputs in the order of node.reads(), null where omitted);
/// nothing where it does not apply. A layer's errors are measured by those of the witness.
using Witness = std::optional<Tensor> (*)(const Node& node, std::span<const Tensor* const> inputs,
                                          ThreadPool& threads);

enum class VariantKind {
  correct,  ///< a layer that it explains is rounding
  faulty,   ///< it names the cause of a fault
};

struct Variant {
  VariantKind kind = VariantKind::correct;
  /// "algorithm", and for faults those of the causes: "precision", "attribute", "parameter", …
  std::string_view family;
  std::string_view id;    ///< of a correct one in a trace's run, too: "algorithms": ["winograd-f4x3"]
  std::string_view name;  ///< in sentences: "as by Winograd F(4,3)", "as with the bias left out"
  std::vector<std::string_view> operators = {};  ///< of other domains than ONNX's as in "com.microsoft.QGemm"
  bool any_operator = false;                     ///< instead of those
  int order = 0;                                 ///< of causes: the simpler ones first
  bool zeros_tell = true;                        ///< of causes: whether wrong zeros are evidence for it
  /// The changes to try; none where it does not apply. This, `witness` or `takes_shape`.
  std::function<std::vector<Candidate>(const LayerCase& layer)> candidates = {};
  Witness witness = nullptr;
  /// Of causes: whether this is the shape that it gives in place of the right one, with the right elements in
  /// their order.
  bool (*takes_shape)(const Node& node, const Shape& got, const Shape& right) = nullptr;
  /// Candidates of groups have one operator in place of several: their bounds may also tell where those of
  /// the nodes one after the other do not. It is tried on groups alone.
  bool fuses = false;
  /// Only for unknown engines, and only for outputs without any subnormal number.
  bool flushes_results = false;
};

class VariantTable {
 public:
  void add(Variant variant) { variants_.push_back(std::move(variant)); }
  [[nodiscard]] std::span<const Variant> all() const { return variants_; }

 private:
  std::vector<Variant> variants_;
};

/// All of this build (generated: build/generated/variant_registry.cpp).
[[nodiscard]] const VariantTable& variant_table();

/// By one of a variant's candidates. `use`: the largest error as a share of what is allowed then.
struct VariantMatch {
  BudgetUse use;
  std::vector<std::pair<std::string, double>> parameters;
  std::string detail = {};
  std::optional<double> chance = {};  ///< of causes (causes.hpp): that this happens by accident
};

/// Whether the variant is one of the layer's operator, or of one in the group before it.
[[nodiscard]] bool concerns(const Variant& variant, const LayerCase& layer);

/// Whether a layer's output is what a variant of a correct function computes, within its errors. Where values
/// between were not recorded, the whole group is tried. Faulty variants: causes.hpp.
[[nodiscard]] std::optional<VariantMatch> explains(const Variant& variant, const LayerCase& layer);

/// Whether a change of several nodes explains the recorded value: with it there is no fault. Nothing where
/// that cannot be told.
[[nodiscard]] std::optional<bool> explains(const std::function<void(Graph&)>& change, const Graph& graph,
                                           const Trace& trace, const std::string& value, ThreadPool& threads);

/// What the variant says of a layer that it explains; `before` is the share of the operator's own budget.
[[nodiscard]] Finding finding_of(const Variant& variant, const VariantMatch& match, double before);

// Candidates of the usual kinds, for the rows of a table.

/// The operator with other rows of the error model.
[[nodiscard]] std::function<std::vector<Candidate>(const LayerCase&)> with_model(void (*change)(ErrorModel&));
/// The node as another reading of the specification has it; nothing where they do not differ.
[[nodiscard]] std::function<std::vector<Candidate>(const LayerCase&)> with_node(
    std::optional<Node> (*change)(const Node&));

}  // namespace driftscope
