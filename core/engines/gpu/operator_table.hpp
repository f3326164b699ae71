// Operators that every GPU engine runs in the same way, each by a shader of its own language. The table is
// generated from operators/ at configure time (each file FOO.cpp defines
// `void driftscope::gpu::foo::add_to(GpuOperatorTable&)`), never edited. Clients: the lowering,
// gpu_engine.cpp.
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
  void add(std::string_view op_type, LowerOperator lower) { table_[std::string(op_type)] = lower; }
  /// Null for what an engine does itself, or strict.
  [[nodiscard]] LowerOperator find(const Node& node) const;

 private:
  std::map<std::string, LowerOperator, std::less<>> table_;
};

}  // namespace driftscope::gpu

namespace driftscope {

/// All operators of this build (generated: build/generated/gpu_registry.cpp).
[[nodiscard]] const gpu::GpuOperatorTable& gpu_operators();

}  // namespace driftscope
