// The GPU interface of the engines: objects that hold values, programs, recordings of dispatches and copies
// that are submitted as one, and readback. Nothing here blocks: completion is polled with ready() and
// finished(). Implemented by native/device and web/device; clients: engines/gpu. It knows no operators.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope::gpu {

/// The language of a device's programs, and with it what its objects are.
enum class Api : std::uint8_t {
  webgpu,  ///< WGSL; objects are buffers
  webgl,   ///< GLSL ES 3.00; objects are textures of four float32 a texel
};

/// What a device is and can do; known once it is ready.
struct DeviceFacts {
  std::string name;       ///< as its driver calls it
  std::string driver;     ///< through which API it is reached: "Dawn, Vulkan", "WebGPU of the browser"
  bool software = false;  ///< it computes on the CPU: SwiftShader, lavapipe, llvmpipe
  bool timestamps = false;
  std::int64_t max_object_bytes = 0;  ///< of one object that a program reads or writes
  int layers = 1;                     ///< into which the objects of intermediate values are divided
  int precision_bits = 0;             ///< of the fraction of a shader's float; 0: not asked
  std::uint32_t max_workgroup_threads = 0;
  std::uint32_t max_workgroup_bytes = 0;  ///< of memory that a workgroup shares
  std::uint32_t max_groups = 0;           ///< workgroups in each direction of a dispatch
};

using ObjectId = std::uint32_t;
using ProgramId = std::uint32_t;
using RecordingId = std::uint32_t;
inline constexpr std::uint32_t no_id = 0;

/// An object: so many bytes, a positive multiple of 4, in equal parts. A texture has a layer for each part,
/// so that one draw writes to all of them.
struct ObjectSize {
  std::int64_t bytes = 0;
  int layers = 1;
};

struct Binding {
  ObjectId object = no_id;
  bool written = false;
};

/// One call of a program; `bindings` in the order of its @binding numbers, or of its samplers. `groups`: of
/// WebGL the width and height of what is drawn.
struct Dispatch {
  ProgramId program = no_id;
  std::vector<Binding> bindings;
  std::array<std::uint32_t, 3> groups = {1, 1, 1};
};

/// Brings bytes [0, bytes) of an object back to the host, at `offset` of what the recording brings.
struct CopyBack {
  ObjectId object = no_id;
  std::int64_t bytes = 0;
  std::int64_t layer_bytes = 0;  ///< that each layer holds of them, as in Device::write
  std::int64_t offset = 0;
};

struct Command {
  std::optional<Dispatch> dispatch;  ///< else the copy
  CopyBack copy;
  std::uint32_t timed_as = 0;  ///< commands of one number are timed together; numbers rise
};

/// Programs of a device since it was opened.
struct ProgramCounts {
  std::int64_t asked = 0;
  std::int64_t compiled = 0;
};

/// What a submission that has finished took, by Command::timed_as; empty where it was not timed.
struct Finished {
  std::vector<std::int64_t> times_ns;
};

/// Used by one thread at a time.
class Device {
 public:
  virtual ~Device() = default;

  /// Whether the device and all programs that were asked for are there. The error of a device that is not
  /// available, is lost, or of a program that does not compile.
  [[nodiscard]] virtual Result<bool> ready() = 0;
  /// Lost, or never there: a new one has to be opened.
  [[nodiscard]] virtual bool lost() const = 0;
  /// It does not respond: the next session opens another one.
  virtual void give_up() = 0;
  [[nodiscard]] virtual const DeviceFacts& facts() const = 0;

  /// Undefined at first.
  [[nodiscard]] virtual Result<ObjectId> make_object(ObjectSize size, std::string_view label) = 0;
  virtual void release_object(ObjectId object) = 0;
  /// Before all submissions that come later; `bytes` a multiple of 4. Each layer of a texture takes
  /// `layer_bytes` of them, a multiple of 16, in rows as texture_extent has it.
  [[nodiscard]] virtual Status write(ObjectId object, std::span<const std::byte> bytes,
                                     std::int64_t layer_bytes) = 0;

  /// Begins to compile. The same code is one program, kept for as long as the device.
  [[nodiscard]] virtual ProgramId make_program(std::string_view label, std::string_view code) = 0;
  /// How far compiling is, as of the last ready().
  [[nodiscard]] virtual ProgramCounts program_counts() const = 0;

  /// What can be submitted again and again, not while it is under way. `timed`: with times, where the device
  /// has timestamps.
  [[nodiscard]] virtual Result<RecordingId> record(std::vector<Command> commands, bool timed) = 0;
  virtual void release_recording(RecordingId recording) = 0;
  [[nodiscard]] virtual Status submit(RecordingId recording) = 0;
  /// Of a recording that was submitted; nothing while it is under way.
  [[nodiscard]] virtual Result<std::optional<Finished>> finished(RecordingId recording) = 0;
  /// What it brought back, once finished, from `offset` on.
  [[nodiscard]] virtual Status read(RecordingId recording, std::int64_t offset,
                                    std::span<std::byte> target) = 0;

  /// Bytes of all objects and of what recordings bring back.
  [[nodiscard]] virtual std::int64_t memory() const = 0;
};

/// Whether this host has such devices at all; asking costs little the second time.
[[nodiscard]] Availability device_available(Api api);

/// Begins to open the device of this host. One device serves all sessions until it is lost.
[[nodiscard]] Result<std::shared_ptr<Device>> open_device(Api api);

}  // namespace driftscope::gpu
