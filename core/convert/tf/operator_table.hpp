// What becomes of ONNX's operators in TensorFlow. The table is generated from operators/ at configure time
// (each file FOO.cpp defines `void driftscope::tf::operators::foo::add_to(OperatorTable&)`), never edited.
// Clients: from_onnx.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope::tf {

class Lowering;
using OnnxNode = driftscope::Node;

/// Makes TensorFlow's nodes of one of ours, and gives all its outputs that are wanted. An error says why
/// this node cannot be expressed; the caller names the node.
using LowerNode = Status (*)(Lowering& lowering, const OnnxNode& node);

/// In which order of axes an operator prefers what it reads.
enum class Prefers {
  ours,
  channels_last,  ///< of input 0
  any,            ///< as its outputs are wanted
};

struct TfOperator {
  LowerNode lower = nullptr;
  Prefers prefers = Prefers::ours;
};

class OperatorTable {
 public:
  void add(std::string_view op_type, LowerNode lower, Prefers prefers = Prefers::ours) {
    table_[std::string(op_type)] = {lower, prefers};
  }
  /// Null for operators that have no equivalent.
  [[nodiscard]] const TfOperator* find(const OnnxNode& node) const {
    const auto found = node.domain.empty() ? table_.find(node.op_type) : table_.end();
    return found == table_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const std::map<std::string, TfOperator, std::less<>>& all() const { return table_; }

 private:
  std::map<std::string, TfOperator, std::less<>> table_;
};

}  // namespace driftscope::tf

namespace driftscope {

/// All operators of this build (generated: build/generated/tf_operator_registry.cpp).
[[nodiscard]] const tf::OperatorTable& tf_operators();

}  // namespace driftscope
