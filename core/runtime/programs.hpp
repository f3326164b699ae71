// What an engine with shaders made for a node: their source, what they are bound to, how they are dispatched.
// A session of such an engine is a ProgramSource too. Clients: engines/gpu, run --print-shader. It runs
// nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

struct ProgramBinding {
  std::string what;  ///< the name of a value; "weights"; "scratch"
  DType dtype = DType::float32;
  Shape shape;
  std::int64_t bytes = 0;
  std::string layout;  ///< empty: as ONNX orders it
  bool written = false;
};

/// One dispatch, or one draw.
struct Program {
  std::string file;  ///< that it was made from
  std::string code;
  std::array<std::uint32_t, 3> groups = {1, 1, 1};  ///< of a draw its width and height
  std::vector<ProgramBinding> bindings;             ///< by number
};

struct NodePrograms {
  std::string language;  ///< "WGSL"
  std::string device;
  std::string driver;
  bool software = false;           ///< the device computes on the CPU
  bool draws = false;              ///< programs are drawn from textures to textures, not dispatched
  std::vector<std::string> nodes;  ///< labels of those that run as one, in the order of the graph
  bool on_strict = false;          ///< the engine leaves them, or a part of them, to the strict kernels
  std::vector<Program> programs;   ///< in the order of their dispatches
};

class ProgramSource {
 public:
  virtual ~ProgramSource() = default;
  /// Of this node of the graph that the session was made for. Nothing: the device is not ready; ask again,
  /// in a browser after its event loop has run. No program has to compile for this.
  [[nodiscard]] virtual Result<std::optional<NodePrograms>> programs(const Graph& graph, NodeId node) = 0;
};

}  // namespace driftscope
