// Which operators GPU engines run themselves. The table is generated from operators/ at configure time (each
// file FOO.cpp defines `void driftscope::gpu::foo::add_to(GpuOperatorTable&)`), never edited. Clients: the
// lowering, gpu_engine.cpp, tests.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope::gpu {

class GpuLowering;

/// Emits the dispatches of a node. False: this operator cannot run it, it goes to strict; nothing that was
/// emitted before may write a value of the graph then.
using LowerOperator = Result<bool> (*)(GpuLowering& lowering, const Node& node);

class GpuOperatorTable {
 public:
  /// `op_type` of another domain than ONNX's own as in "com.microsoft.MatMulNBits".
  void add(std::string_view op_type, LowerOperator lower) { table_[std::string(op_type)] = lower; }
  /// Null for what goes to strict.
  [[nodiscard]] LowerOperator find(const Node& node) const;
  [[nodiscard]] const std::map<std::string, LowerOperator, std::less<>>& all() const { return table_; }

 private:
  std::map<std::string, LowerOperator, std::less<>> table_;
};

}  // namespace driftscope::gpu

namespace driftscope {

/// All operators of this build (generated: build/generated/gpu_registry.cpp).
[[nodiscard]] const gpu::GpuOperatorTable& gpu_operators();

}  // namespace driftscope
