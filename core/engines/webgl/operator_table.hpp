// Which operators the WebGL engine runs itself. The table is generated from operators/ at configure time
// (each file FOO.cpp defines `void driftscope::webgl::foo::add_to(WebGlOperatorTable&)`), never edited.
// Clients: the lowering, engine.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope::webgl {

class Lowering;

/// Emits the draws of a node. False: this operator cannot run it, it goes to strict; nothing that was
/// emitted before may write a value of the graph then.
using LowerOperator = Result<bool> (*)(Lowering& lowering, const Node& node);

class WebGlOperatorTable {
 public:
  void add(std::string_view op_type, LowerOperator lower) { table_[std::string(op_type)] = lower; }
  /// Null for what goes to strict.
  [[nodiscard]] LowerOperator find(const Node& node) const;

 private:
  std::map<std::string, LowerOperator, std::less<>> table_;
};

}  // namespace driftscope::webgl

namespace driftscope {

/// All operators of this build (generated: build/generated/webgl_registry.cpp).
[[nodiscard]] const webgl::WebGlOperatorTable& webgl_operators();

}  // namespace driftscope
