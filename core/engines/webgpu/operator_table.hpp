// Which operators the WebGPU engine runs itself. The table is generated from operators/ at configure time
// (each file FOO.cpp defines `void driftscope::webgpu::foo::add_to(WebGpuOperatorTable&)`), never edited.
// Clients: the lowering, engine.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope::webgpu {

class Lowering;

/// Emits the dispatches of a node. False: this operator cannot run it, it goes to strict; nothing that was
/// emitted before may write a value of the graph then.
using LowerOperator = Result<bool> (*)(Lowering& lowering, const Node& node);

class WebGpuOperatorTable {
 public:
  void add(std::string_view op_type, LowerOperator lower) { table_[std::string(op_type)] = lower; }
  /// Null for what goes to strict.
  [[nodiscard]] LowerOperator find(const Node& node) const;

 private:
  std::map<std::string, LowerOperator, std::less<>> table_;
};

}  // namespace driftscope::webgpu

namespace driftscope {

/// All operators of this build (generated: build/generated/webgpu_registry.cpp).
[[nodiscard]] const webgpu::WebGpuOperatorTable& webgpu_operators();

}  // namespace driftscope
