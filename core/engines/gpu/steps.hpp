// Steps that a device does: sessions record them together, instead of running one after the other. Clients:
// the lowering, the session.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/device/device.hpp"
#include "core/lowering/graph_lowering.hpp"

namespace driftscope::gpu {

using namespace lowering;  // operators speak of buffers, layouts and steps all the time

/// A step that is not a call: the session does it.
class DeviceStep : public Step {
 public:
  [[nodiscard]] Status bind(const Memory& /*memory*/) final { return {}; }
  [[nodiscard]] Status run(Memory& /*memory*/) final {
    return internal_error("a step of the device was run on the host");
  }
};

/// One dispatch; its buffers by number of binding, those it writes at the end.
class DispatchStep final : public DeviceStep {
 public:
  struct Bound {
    BufferId buffer = no_buffer;
    bool written = false;
  };
  /// For people: see describe.hpp.
  struct Source {
    std::string file;
    std::shared_ptr<const std::string> code;
    bool rearranges = false;  ///< it writes the value that it reads, in another order
  };
  DispatchStep(ProgramId program, std::vector<Bound> bound, std::array<std::uint32_t, 3> groups,
               Source source)
      : program_(program), bound_(std::move(bound)), groups_(groups), source_(std::move(source)) {}

  [[nodiscard]] const std::vector<Bound>& bound() const { return bound_; }
  [[nodiscard]] const std::array<std::uint32_t, 3>& groups() const { return groups_; }
  [[nodiscard]] const Source& source() const { return source_; }

  [[nodiscard]] Dispatch dispatch(const Memory& memory) const {
    Dispatch made{program_, {}, groups_};
    for (const Bound& it : bound_)
      made.bindings.push_back({static_cast<ObjectId>(memory.locate(it.buffer).object), it.written});
    return made;
  }

 private:
  ProgramId program_;
  std::vector<Bound> bound_;
  std::array<std::uint32_t, 3> groups_;
  Source source_;
};

/// From the host to the device or back, into another order of elements.
class TransferStep final : public DeviceStep {
 public:
  explicit TransferStep(Conversion conversion) : conversion_(std::move(conversion)) {}
  [[nodiscard]] const Conversion& conversion() const { return conversion_; }
  [[nodiscard]] bool to_device() const { return conversion_.to.space == Space::device; }

 private:
  Conversion conversion_;
};

}  // namespace driftscope::gpu
