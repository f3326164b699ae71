// How operators are differentiated: a rule is given a node whose outputs' gradients are known, and adds nodes
// that compute those of its inputs. rules/FOO.cpp defines `gradient_rules::foo::add_to(GradientRuleTable&)`;
// the table is generated from the folder. Client: gradient.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/gradient/emitter.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

class NodeGradient {
 public:
  struct Facts {
    const Graph& graph;  ///< with shapes as far as they are known
    const Node& node;
    const std::vector<bool>& wanted;  ///< by value: its gradient is needed
    bool straight_through = false;
    /// The name of an output that the model's node omits, which it has from now on.
    std::function<std::string(std::size_t)> output_name;
  };
  NodeGradient(Facts facts, GradientEmitter& emitter, std::vector<std::string> of_outputs)
      : facts_(std::move(facts)), emitter_(emitter), of_outputs_(std::move(of_outputs)) {}

  [[nodiscard]] const Node& node() const { return facts_.node; }
  [[nodiscard]] const Graph& graph() const { return facts_.graph; }
  [[nodiscard]] GradientEmitter& emit() { return emitter_; }
  [[nodiscard]] bool straight_through() const { return facts_.straight_through; }

  [[nodiscard]] bool has_input(std::size_t i) const;
  /// Names of values; the output's exists even if the model's node omits it.
  [[nodiscard]] std::string x(std::size_t i) const;
  [[nodiscard]] std::string y(std::size_t i = 0) const;
  /// The gradient of output i, "" if it has none (it then counts as zero).
  [[nodiscard]] std::string dy(std::size_t i = 0) const { return of_outputs_[i]; }
  [[nodiscard]] bool wanted(std::size_t i) const;
  [[nodiscard]] bool wanted_value(ValueId id) const { return facts_.wanted[id]; }
  [[nodiscard]] DType dtype() const;  ///< of the first input that is floating and wanted

  [[nodiscard]] const Value& input(std::size_t i) const;
  [[nodiscard]] const Value& output(std::size_t i = 0) const;
  /// Sizes of which some may be open; an error if not even their number is known.
  [[nodiscard]] Result<SymbolicShape> sizes(const Value& value) const;
  /// A size that must be known, for the reason that the error says.
  [[nodiscard]] Result<std::int64_t> size(const Value& value, std::size_t axis) const;
  /// Their product, −1 if one is open.
  [[nodiscard]] static std::int64_t product(std::span<const Dimension> sizes);
  /// The sizes with at most one open, as −1: what Reshape takes.
  [[nodiscard]] Result<Ints> reshape_sizes(const Ints& sizes) const;
  /// The shape of input i as an int64 vector for Reshape and Expand.
  [[nodiscard]] std::string shape_of_input(std::size_t i);
  /// The value of input i, computed if it follows from constants.
  [[nodiscard]] Result<std::optional<Tensor>> constant(std::size_t i) const;
  /// An int64 vector that must be constant; `what` names it.
  [[nodiscard]] Result<Ints> constant_ints(std::size_t i, std::string_view what) const;

  /// Adds to the gradient of input i, whose shape it has.
  void add(std::size_t i, std::string gradient);
  /// Adds to the gradient of a value that the node's subgraphs read.
  void add_captured(ValueId id, std::string gradient) { of_captured_[id] = std::move(gradient); }
  /// As add, of a value with the output's shape, from which input i was broadcast.
  [[nodiscard]] Status add_broadcast(std::size_t i, const std::string& gradient);
  /// Sums a value of sizes `from` over the axes along which `to` was broadcast. Sizes that are open in `to`
  /// must be those of `from`.
  [[nodiscard]] Result<std::string> sum_to(const std::string& value, const SymbolicShape& from,
                                           const SymbolicShape& to, const SymbolicShape* other = nullptr);
  /// The gradient of an operator that is linear along an axis of input i: matrix [x's size, y's size], row
  /// by row, times dy along it.
  [[nodiscard]] Result<std::string> along_axis(const std::string& gradient, const SymbolicShape& sizes,
                                               std::size_t axis, const std::string& matrix,
                                               std::int64_t rows);
  [[nodiscard]] Error unsupported_form(std::string_view what) const;

  [[nodiscard]] const std::map<std::size_t, std::string>& of_inputs() const { return of_inputs_; }
  [[nodiscard]] const std::map<ValueId, std::string>& of_captured() const { return of_captured_; }

 private:
  Facts facts_;
  GradientEmitter& emitter_;
  std::vector<std::string> of_outputs_;
  std::map<std::size_t, std::string> of_inputs_;
  std::map<ValueId, std::string> of_captured_;
};

using GradientRule = Status (*)(NodeGradient& at);

class GradientRuleTable {
 public:
  void add(std::string_view op_type, GradientRule rule, std::string_view domain = "") {
    rules_[{std::string(domain), std::string(op_type)}] = rule;
  }
  [[nodiscard]] GradientRule find(std::string_view domain, std::string_view op_type) const {
    const auto found = rules_.find({std::string(domain), std::string(op_type)});
    return found == rules_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::pair<std::string, std::string>, GradientRule> rules_;
};

/// All rules of this build (generated).
[[nodiscard]] const GradientRuleTable& gradient_rules_table();

}  // namespace driftscope
