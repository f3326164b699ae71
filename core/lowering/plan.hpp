// The result of lowering a graph, run by a session: buffers, and the steps between them in order. Clients:
// GraphLowering, the sessions of engines. It knows nothing of operators, nor of what runs a step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/lowering/layout.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope::lowering {

using BufferId = std::uint32_t;
inline constexpr BufferId no_buffer = 0xffffffffu;

/// Which memory a value lies in.
enum class Space : std::uint8_t {
  host,    ///< of this process: bytes at an address
  device,  ///< of a GPU: its API alone reaches it
};
inline constexpr std::size_t spaces = 2;

/// The form in which a value exists.
struct Form {
  Layout layout = {};
  Space space = Space::host;

  [[nodiscard]] bool plain() const { return layout.plain(); }
  bool operator==(const Form&) const = default;
};

/// What a buffer's memory is.
enum class Storage {
  constant,   ///< in the plan as long as it exists; a device gets a copy when its session is made
  input,      ///< the caller's tensor, another one in every run
  run_owned,  ///< a tensor that a step makes in every run
  arena,      ///< at a fixed place: see MemoryRules
  escaping,   ///< a tensor that the session allocates in every run, since a trace sink may keep it
};

/// Whether it is a tensor of the run, at another address in every run.
[[nodiscard]] inline bool moves(Storage storage) {
  return storage != Storage::constant && storage != Storage::arena;
}

struct Buffer {
  DType dtype = DType::float32;
  Shape shape;  ///< as ONNX orders it; for run_owned, as far as it is known
  Layout layout;
  Space space = Space::host;
  Storage storage = Storage::arena;
  BufferId root = 0;  ///< itself, or the buffer whose memory this one views
  std::int64_t bytes = 0;
  std::int64_t offset = 0;        ///< in the arena of its space; for roots only
  std::uint32_t object = 0;       ///< of Plan::objects, where the rules say whole objects; for roots only
  std::uint64_t object_kind = 0;  ///< buffers of one kind may share an object
  Tensor constant;                ///< in the order of `layout`
};

/// Where a buffer is.
struct Location {
  std::byte* address = nullptr;  ///< in host memory
  std::uint64_t object = 0;      ///< else the device's own name of the buffer or texture
  std::int64_t offset = 0;       ///< bytes from its beginning
};

/// Where the buffers of one run are.
class Memory {
 public:
  virtual ~Memory() = default;
  [[nodiscard]] virtual Location locate(BufferId buffer) const = 0;
  /// A value in host memory, in ONNX's order; a copy if it lies in the arena.
  [[nodiscard]] virtual Result<Tensor> tensor(BufferId buffer) const = 0;
  /// Stores the tensor that a step made for a run_owned buffer.
  virtual void put(BufferId buffer, Tensor tensor) = 0;

  [[nodiscard]] std::byte* address(BufferId buffer) const { return locate(buffer).address; }
  template <class T>
  [[nodiscard]] T* at(BufferId buffer) const {
    return reinterpret_cast<T*>(address(buffer));
  }
};

/// One call of a kernel, prepared. Runs again and again, never two at once.
class Step {
 public:
  virtual ~Step() = default;
  /// Passes the locations of its buffers: once, and again whenever one of them has moved.
  [[nodiscard]] virtual Status bind(const Memory& memory) = 0;
  [[nodiscard]] virtual Status run(Memory& memory) = 0;
};

struct PlannedStep {
  std::unique_ptr<Step> step;
  std::vector<BufferId> reads;
  std::vector<BufferId> writes;       ///< and scratch space
  BufferId in_place = no_buffer;      ///< one of `reads` whose memory writes[0] may take over
  bool moving = false;                ///< accesses buffers whose address changes with every run
  std::vector<BufferId> begins = {};  ///< those of Storage::escaping that it is the first to write
};

/// The steps of one node, or of a group that runs as one.
struct PlannedNode {
  NodeId node = no_node;  ///< of the original graph; the last of the group
  std::size_t first_step = 0;
  std::size_t end_step = 0;
  std::vector<std::pair<ValueId, BufferId>> values;  ///< what exists afterwards
  std::vector<BufferId> dead_tensors;                ///< not needed after this node
};

struct Plan {
  std::vector<Buffer> buffers;
  std::vector<PlannedStep> steps;
  std::vector<PlannedNode> nodes;
  std::vector<BufferId> inputs;                       ///< of the graph
  std::vector<BufferId> outputs;                      ///< in host memory and ONNX's order
  std::array<std::int64_t, spaces> arena_bytes = {};  ///< by space
  std::vector<std::uint64_t> objects;                 ///< their kinds, where buffers are whole objects
  std::map<std::string, int> on_fallback;  ///< operator → nodes that the engine does not run itself
  std::vector<bool> read_by_fallback;      ///< by value of the graph: a fallback kernel reads it

  [[nodiscard]] BufferId root(BufferId buffer) const { return buffers[buffer].root; }
  [[nodiscard]] std::int64_t arena(Space space) const { return arena_bytes[static_cast<std::size_t>(space)]; }
};

/// How buffers of Storage::arena get memory in one space.
struct MemoryRules {
  std::int64_t alignment = 64;  ///< of offsets; a power of two
  std::int64_t tail_bytes = 0;  ///< that may be read beyond the end of a buffer
  /// Each buffer is an object of the device, and those of one kind share it one after the other: textures,
  /// which cannot begin inside another. Otherwise they lie in one arena.
  bool whole_objects = false;
  /// With whole objects: a kind is a number of bytes, and an object serves all that are not larger.
  bool kinds_are_bytes = false;
};

/// Places every arena buffer, makes steps work in place where they may, and finds which steps access
/// moving buffers. With `hand_over`, values that exist after a node are not in the arena. Call it
/// once, after all steps have been added.
void assign_memory(Plan& plan, bool hand_over, const std::array<MemoryRules, spaces>& rules);

}  // namespace driftscope::lowering
