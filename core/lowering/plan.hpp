// What the lowering makes of a graph and the session runs: buffers, and steps between them in order.
// It knows nothing of operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/lowering/layout.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope::fast {

using BufferId = std::uint32_t;
inline constexpr BufferId no_buffer = 0xffffffffu;

/// Where a buffer's bytes are.
enum class Storage {
  constant,   ///< in the plan, for ever
  input,      ///< the caller's tensor, another one in every run
  run_owned,  ///< a tensor that a step makes in every run
  arena,      ///< at a fixed place of the session's arena
  escaping,   ///< a tensor that the session makes again in every run, since who watches may keep it
};

/// Whether it is a tensor of the run, at another address in every one.
[[nodiscard]] inline bool moves(Storage storage) {
  return storage != Storage::constant && storage != Storage::arena;
}

struct Buffer {
  DType dtype = DType::float32;
  Shape shape;  ///< as ONNX has it; of a slot whatever is known
  Layout layout;
  Storage storage = Storage::arena;
  BufferId root = 0;  ///< itself, or the buffer whose memory this is another view of
  std::int64_t bytes = 0;
  std::int64_t offset = 0;  ///< in the arena; of roots
  Tensor constant;
};

/// Where the buffers of one run are.
class Memory {
 public:
  virtual ~Memory() = default;
  [[nodiscard]] virtual std::byte* address(BufferId buffer) const = 0;
  /// The value in ONNX's order; a copy where it lies in the arena.
  [[nodiscard]] virtual Result<Tensor> tensor(BufferId buffer) const = 0;
  /// Fills a slot.
  virtual void put(BufferId slot, Tensor tensor) = 0;

  template <class T>
  [[nodiscard]] T* at(BufferId buffer) const {
    return reinterpret_cast<T*>(address(buffer));
  }
};

/// One call of a kernel, prepared. Runs again and again, never two at once.
class Step {
 public:
  virtual ~Step() = default;
  /// Tells where its buffers are: once, and again whenever one of them has moved.
  [[nodiscard]] virtual Status bind(const Memory& memory) = 0;
  [[nodiscard]] virtual Status run(Memory& memory) = 0;
};

struct PlannedStep {
  std::unique_ptr<Step> step;
  std::vector<BufferId> reads;
  std::vector<BufferId> writes;       ///< and scratch space
  BufferId in_place = no_buffer;      ///< a read whose memory writes[0] may take over
  bool moving = false;                ///< reads or writes what is at another address in every run
  std::vector<BufferId> begins = {};  ///< those of Storage::escaping that it is the first to write
};

/// The steps of one node, or of a group that runs as one.
struct PlannedNode {
  NodeId node = no_node;  ///< of the graph that was given; the last of the group
  std::size_t first_step = 0;
  std::size_t end_step = 0;
  std::vector<std::pair<ValueId, BufferId>> values;  ///< what exists afterwards
  std::vector<BufferId> dead_slots;                  ///< nobody needs them any more
};

struct Plan {
  std::vector<Buffer> buffers;
  std::vector<PlannedStep> steps;
  std::vector<PlannedNode> nodes;
  std::vector<BufferId> inputs;   ///< of the graph
  std::vector<BufferId> outputs;  ///< in ONNX's order of memory
  std::int64_t arena_bytes = 0;
  std::map<std::string, int> on_strict;  ///< operator → nodes that XNNPACK does not run
  std::vector<bool> read_by_strict;      ///< by value of the graph: their kernels look at it

  [[nodiscard]] BufferId root(BufferId buffer) const { return buffers[buffer].root; }
};

/// Gives every buffer of the arena its place, lets steps work in place where they may, and finds which
/// steps read what moves. With `hand_over` what exists after a node is not in the arena. To be called
/// once, when all steps are there.
void assign_memory(Plan& plan, bool hand_over);

}  // namespace driftscope::fast
