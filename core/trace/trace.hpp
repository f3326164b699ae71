// A trace: one model, one input, one target: every captured tensor, times, memory, what really ran.
// Made by record, read from and written to safetensors by trace_file, consumed by verify and views.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/graph/control_flow.hpp"
#include "core/model/model.hpp"

namespace driftscope {

struct NodeRecord {
  std::string name;
  std::string op;
  std::vector<std::string> outputs;
  std::vector<std::int64_t> time_ns;  ///< one per repetition; the first includes warming up
  bool constant = false;              ///< depends on no input: the same in every run
  /// The If, Loop or Scan that it is inside, whose own time contains this one's. Empty: it is inside none.
  std::string inside = {};
};

struct MemoryRecord {
  double t_ms = 0.0;  ///< since the start of the run
  std::int64_t bytes = 0;
  std::string kind;  ///< "wasm_heap", "process_pss", "process_tree_pss", …
};

/// A value of a later run that differs from the one recorded, which is the first run's (repeat_check.hpp).
struct LaterValue {
  std::int64_t run = 0;  ///< counted from 1
  NamedTensor named;
};

struct Trace {
  std::string model_sha256;  ///< empty when the file does not say
  std::string target;        ///< empty when the file does not say
  /// JSON text of what ran: engine, host, browser and version, device, instruction_set,
  /// threads_asked, threads_real, isolated, start_time, options. "{}" when the file does not say.
  std::string run = "{}";
  std::vector<NodeRecord> nodes;
  std::vector<ControlFlowRecord> control_flow;  ///< of If, Loop and Scan whose layers inside were recorded
  std::vector<MemoryRecord> memory;
  std::vector<NamedTensor> tensors;    ///< by ONNX value name, in the order recorded
  std::vector<LaterValue> later = {};  ///< where runs were compared and differ

  [[nodiscard]] const Tensor* find(std::string_view value_name) const;
};

}  // namespace driftscope
