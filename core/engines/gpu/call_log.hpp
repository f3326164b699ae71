// What a session does with its device, as JavaScript: calls that a page of its own makes again, with a few
// functions for the API (core/repro/runtimes/shaders.cpp), to show that a result is the browser's.
// Client: the session.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "core/device/device.hpp"

namespace driftscope::gpu {

class CallLog final : public Device {
 public:
  /// Calls are passed on to `device`.
  CallLog(std::shared_ptr<Device> device, Api api) : device_(std::move(device)), api_(api) {}

  /// Forgets what the run before did; what was made for all runs stays.
  void begin_run();
  /// Where the result is; `places`: of its elements in the object, as host_order's places_of.
  struct Answer {
    CopyBack copy;
    DType dtype = DType::float32;
    std::int64_t elements = 0;
    std::span<const std::uint32_t> places;
  };
  /// The calls, and one that brings the result; empty where they are too long for a page.
  [[nodiscard]] std::string text(const Answer& answer) const;

  [[nodiscard]] Result<bool> ready() override { return device_->ready(); }
  [[nodiscard]] bool lost() const override { return device_->lost(); }
  void give_up() override { device_->give_up(); }
  [[nodiscard]] const DeviceFacts& facts() const override { return device_->facts(); }
  [[nodiscard]] Result<ObjectId> make_object(ObjectSize size, std::string_view label) override;
  void release_object(ObjectId object) override { device_->release_object(object); }
  [[nodiscard]] Status write(ObjectId object, std::span<const std::byte> bytes,
                             std::int64_t layer_bytes) override;
  [[nodiscard]] ProgramId make_program(std::string_view label, std::string_view code) override;
  [[nodiscard]] ProgramCounts program_counts() const override { return device_->program_counts(); }
  [[nodiscard]] Result<RecordingId> record(std::vector<Command> commands, bool timed) override;
  void release_recording(RecordingId recording) override;
  [[nodiscard]] Status submit(RecordingId recording) override;
  [[nodiscard]] Result<std::optional<Finished>> finished(RecordingId recording) override {
    return device_->finished(recording);
  }
  [[nodiscard]] Status read(RecordingId recording, std::int64_t offset,
                            std::span<std::byte> target) override {
    return device_->read(recording, offset, target);
  }
  [[nodiscard]] std::int64_t memory() const override { return device_->memory(); }

 private:
  void add(const std::string& call);

  std::shared_ptr<Device> device_;
  Api api_;
  std::string prepared_;  // before the first run
  std::string run_;
  bool runs_ = false;
  bool too_long_ = false;
  std::set<ProgramId> programs_;
  std::map<RecordingId, std::string> recordings_;
};

}  // namespace driftscope::gpu
