// Which operators the fast engine runs itself. The table is generated from operators/ at configure time
// (each file FOO.cpp defines `void driftscope::fast::foo::add_to(FastOperatorTable&)`), never edited.
// Clients: the lowering, engine.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope::fast {

class Lowering;

/// Makes the steps of a node. False: this operator does not support it and strict runs it; steps emitted
/// before must not write a value of the graph then.
using LowerOperator = Result<bool> (*)(Lowering& lowering, const Node& node);

class FastOperatorTable {
 public:
  /// `op_type` of another domain than ONNX's own as in "com.microsoft.MatMulNBits".
  void add(std::string_view op_type, LowerOperator lower) { table_[std::string(op_type)] = lower; }
  /// Null for operators left to strict.
  [[nodiscard]] LowerOperator find(const Node& node) const;

 private:
  std::map<std::string, LowerOperator, std::less<>> table_;
};

}  // namespace driftscope::fast

namespace driftscope {

/// All operators of this build (generated: build/generated/fast_registry.cpp).
[[nodiscard]] const fast::FastOperatorTable& fast_operators();

}  // namespace driftscope
