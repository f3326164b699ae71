// A WebGPU device on the PC: Dawn through its C interface. Callbacks run inside of ready() and finished(),
// which let Dawn deliver what has happened.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>

#include "core/device/device.hpp"
#include "native/device/dawn_library.hpp"

namespace driftscope::gpu::dawn {
namespace {

std::string text_of(StringView view) {
  if (view.data == nullptr) return {};
  return view.length == null_terminated ? std::string(view.data) : std::string(view.data, view.length);
}

StringView view_of(std::string_view text) { return {text.data(), text.size()}; }

class DawnDevice final : public Device {
 public:
  explicit DawnDevice(const Library& dawn) : call_(dawn.call), instance_(dawn.instance) {
    const AdapterOptions options;
    AdapterCallbackInfo info;
    info.callback = [](std::uint32_t status, AdapterImpl* adapter, StringView message, void* self, void*) {
      static_cast<DawnDevice*>(self)->take_adapter(status, adapter, message);
    };
    info.userdata1 = this;
    call_.InstanceRequestAdapter(instance_, &options, info);
  }
  DawnDevice(const DawnDevice&) = delete;
  DawnDevice& operator=(const DawnDevice&) = delete;

  ~DawnDevice() override {
    closing_ = true;
    while (!recordings_.empty()) release_recording(recordings_.begin()->first);
    for (auto& [id, object] : objects_) release(object.buffer);
    for (auto& [id, program] : programs_)
      if (program.pipeline != nullptr) call_.ComputePipelineRelease(program.pipeline);
    if (queue_ != nullptr) call_.QueueRelease(queue_);
    if (device_ != nullptr) {
      call_.DeviceDestroy(device_);
      call_.InstanceProcessEvents(instance_);  // callbacks that name this object
      call_.DeviceRelease(device_);
    }
    if (adapter_ != nullptr) call_.AdapterRelease(adapter_);
  }

  Result<bool> ready() override {
    call_.InstanceProcessEvents(instance_);
    DRIFTSCOPE_CHECK(state());
    const bool there = device_ != nullptr && compiling_ == 0;
    if (!there) std::this_thread::sleep_for(std::chrono::microseconds(200));
    return there;
  }

  bool lost() const override { return lost_; }
  void give_up() override { lost_ = true; }
  const DeviceFacts& facts() const override { return facts_; }

  Result<ObjectId> make_object(ObjectSize size, std::string_view label) override {
    DRIFTSCOPE_CHECK(state());
    const std::int64_t bytes = size.bytes;
    if (bytes <= 0 || bytes % 4 != 0)
      return internal_error(fmt::format("a buffer of {} bytes was requested ({})", bytes, label));
    if (bytes > facts_.max_object_bytes)
      return limit_error(fmt::format("{} needs a buffer of {} bytes; {} allows {}", label, bytes, facts_.name,
                                     facts_.max_object_bytes));
    BufferImpl* const buffer = make_buffer(bytes, storage | copy_source | copy_target, label);
    call_.InstanceProcessEvents(instance_);
    DRIFTSCOPE_CHECK(state());
    if (buffer == nullptr) return limit_error(fmt::format("{}: no memory for {} bytes", label, bytes));
    memory_ += bytes;
    objects_[++last_object_] = {buffer, bytes};
    return last_object_;
  }

  void release_object(ObjectId id) override {
    const auto found = objects_.find(id);
    if (found == objects_.end()) return;
    memory_ -= found->second.bytes;
    release(found->second.buffer);
    objects_.erase(found);
  }

  Status write(ObjectId id, std::span<const std::byte> bytes, std::int64_t /*layer_bytes*/) override {
    DRIFTSCOPE_CHECK(state());
    const auto found = objects_.find(id);
    if (found == objects_.end() || std::ssize(bytes) > found->second.bytes || bytes.size() % 4 != 0)
      return internal_error(fmt::format("{} bytes do not fit into buffer {}", bytes.size(), id));
    call_.QueueWriteBuffer(queue_, found->second.buffer, 0, bytes.data(), bytes.size());
    return {};
  }

  ProgramId make_program(std::string_view label, std::string_view code) override {
    const auto known = by_code_.find(code);
    if (known != by_code_.end()) return known->second;
    const ProgramId id = ++last_program_;
    by_code_.emplace(code, id);
    Program& program = programs_[id];
    program.label = label;
    program.owner = this;
    program.id = id;
    if (device_ == nullptr) return id;
    ++compiling_;
    ShaderSourceWgsl source;
    source.code = view_of(code);
    ShaderModuleDescriptor module;
    module.next = &source.chain;
    module.label = view_of(label);
    ShaderModuleImpl* const shader = call_.DeviceCreateShaderModule(device_, &module);
    ComputePipelineDescriptor descriptor;
    descriptor.label = view_of(label);
    descriptor.compute.module = shader;
    descriptor.compute.entry_point = {"main", 4};
    PipelineCallbackInfo info;
    info.callback = [](std::uint32_t status, ComputePipelineImpl* pipeline, StringView message, void* made,
                       void*) {
      auto& it = *static_cast<Program*>(made);
      --it.owner->compiling_;
      it.pipeline = pipeline;
      if (status != success || pipeline == nullptr)
        it.owner->fail(internal_error(fmt::format("the shader of {} does not compile on {}: {}", it.label,
                                                  it.owner->facts_.name, text_of(message))));
    };
    info.userdata1 = &program;
    call_.DeviceCreateComputePipelineAsync(device_, &descriptor, info);
    call_.ShaderModuleRelease(shader);
    return id;
  }

  ProgramCounts program_counts() const override {
    const auto asked = static_cast<std::int64_t>(programs_.size());
    return {asked, asked - compiling_};
  }

  Result<RecordingId> record(std::vector<Command> commands, bool timed) override {
    DRIFTSCOPE_CHECK(state());
    Recording made;
    made.timed = timed && facts_.timestamps;
    for (Command& command : commands) {
      Item item;
      item.timed_as = command.timed_as;
      if (command.dispatch) {
        DRIFTSCOPE_CHECK(prepare(*command.dispatch, item));
      } else {
        item.copy = command.copy;
        made.bytes = std::max(made.bytes, command.copy.offset + command.copy.bytes);
      }
      made.groups = std::max(made.groups, command.timed_as + 1);
      made.items.push_back(item);
    }
    const std::int64_t time_bytes = made.timed ? static_cast<std::int64_t>(made.groups) * 16 : 0;
    made.staging_bytes = (made.bytes + 7) / 8 * 8 + time_bytes;
    if (made.timed) {
      QuerySetDescriptor queries;
      queries.count = made.groups * 2;
      made.queries = call_.DeviceCreateQuerySet(device_, &queries);
      made.resolved = make_buffer(time_bytes, query_resolve | copy_source, "timestamps");
    }
    if (made.staging_bytes > 0)
      made.staging = make_buffer(made.staging_bytes, map_read | copy_target, "what comes back");
    memory_ += made.staging_bytes;
    call_.InstanceProcessEvents(instance_);
    DRIFTSCOPE_CHECK(state());
    recordings_.emplace(++last_recording_, std::move(made));
    return last_recording_;
  }

  void release_recording(RecordingId id) override {
    const auto found = recordings_.find(id);
    if (found == recordings_.end()) return;
    Recording& it = found->second;
    for (const Item& item : it.items)
      if (item.group != nullptr) call_.BindGroupRelease(item.group);
    if (it.mapped) call_.BufferUnmap(it.staging);
    memory_ -= it.staging_bytes;
    release(it.staging);
    release(it.resolved);
    if (it.queries != nullptr) call_.QuerySetRelease(it.queries);
    recordings_.erase(found);
  }

  Status submit(RecordingId id) override {
    DRIFTSCOPE_CHECK(state());
    Recording& it = recordings_.at(id);
    if (it.mapped) call_.BufferUnmap(it.staging);
    it.mapped = false;
    it.done = it.staging == nullptr;
    CommandEncoderImpl* const encoder = call_.DeviceCreateCommandEncoder(device_, nullptr);
    encode(it, encoder);
    CommandBufferImpl* const commands = call_.CommandEncoderFinish(encoder, nullptr);
    call_.QueueSubmit(queue_, 1, &commands);
    call_.CommandBufferRelease(commands);
    call_.CommandEncoderRelease(encoder);
    if (it.staging != nullptr) {
      MapCallbackInfo info;
      info.callback = [](std::uint32_t status, StringView message, void* self, void* recording) {
        static_cast<DawnDevice*>(self)->take_map(status, message, *static_cast<Recording*>(recording));
      };
      info.userdata1 = this;
      info.userdata2 = &it;
      call_.BufferMapAsync(it.staging, map_read, 0, static_cast<std::size_t>(it.staging_bytes), info);
    }
    return {};
  }

  Result<std::optional<Finished>> finished(RecordingId id) override {
    call_.InstanceProcessEvents(instance_);
    DRIFTSCOPE_CHECK(state());
    Recording& it = recordings_.at(id);
    if (!it.done) {  // the driver may need this processor
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      return std::optional<Finished>();
    }
    Finished result;
    if (it.timed) {
      const auto* times = static_cast<const std::uint64_t*>(call_.BufferGetConstMappedRange(
          it.staging, static_cast<std::size_t>(it.staging_bytes - std::int64_t{16} * it.groups),
          std::size_t{16} * it.groups));
      for (std::uint32_t i = 0; times != nullptr && i < it.groups; ++i) {
        const std::uint64_t begin = times[2 * i];
        const std::uint64_t end = times[2 * i + 1];
        result.times_ns.push_back(end > begin && it.ran[i] ? static_cast<std::int64_t>(end - begin) : 0);
      }
    }
    return std::optional<Finished>(std::move(result));
  }

  Status read(RecordingId id, std::int64_t offset, std::span<std::byte> target) override {
    DRIFTSCOPE_CHECK(state());
    const Recording& it = recordings_.at(id);
    if (!it.mapped || offset < 0 || offset + std::ssize(target) > it.bytes)
      return internal_error("the readback did not arrive");
    if (target.empty()) return {};
    const std::int64_t begin = offset / 8 * 8;  // of a mapped range
    const auto size = static_cast<std::size_t>((offset + std::ssize(target) + 3) / 4 * 4 - begin);
    const void* from = call_.BufferGetConstMappedRange(it.staging, static_cast<std::size_t>(begin), size);
    if (from == nullptr) return internal_error("Dawn gives no access to the readback");
    std::memcpy(target.data(), static_cast<const std::byte*>(from) + (offset - begin), target.size());
    return {};
  }

  std::int64_t memory() const override { return memory_; }

 private:
  struct Object {
    BufferImpl* buffer = nullptr;
    std::int64_t bytes = 0;
  };
  struct Program {
    std::string label;
    ComputePipelineImpl* pipeline = nullptr;
    DawnDevice* owner = nullptr;
    ProgramId id = no_id;
  };
  struct Item {
    ComputePipelineImpl* pipeline = nullptr;  // else a copy
    BindGroupImpl* group = nullptr;
    std::array<std::uint32_t, 3> groups = {};
    CopyBack copy;
    std::uint32_t timed_as = 0;
  };
  struct Recording {
    std::vector<Item> items;
    std::vector<bool> ran = {};  // by time
    std::uint32_t groups = 0;
    bool timed = false;
    bool mapped = false;
    bool done = true;
    std::int64_t bytes = 0;          // that come back
    std::int64_t staging_bytes = 0;  // with the times
    BufferImpl* staging = nullptr;
    BufferImpl* resolved = nullptr;
    QuerySetImpl* queries = nullptr;
  };

  Status state() const { return failure_ ? Status(*failure_) : Status(); }

  void fail(Error error) {
    if (!failure_) failure_ = std::move(error);
    lost_ = true;  // whatever it was: a new device starts from scratch
  }

  BufferImpl* make_buffer(std::int64_t bytes, Flags usage, std::string_view label) {
    BufferDescriptor descriptor;
    descriptor.label = view_of(label);
    descriptor.usage = usage;
    descriptor.size = static_cast<std::uint64_t>(bytes);
    return call_.DeviceCreateBuffer(device_, &descriptor);
  }

  void release(BufferImpl* buffer) {
    if (buffer == nullptr) return;
    call_.BufferDestroy(buffer);  // what is under way still has it
    call_.BufferRelease(buffer);
  }

  void take_adapter(std::uint32_t status, AdapterImpl* adapter, StringView message) {
    adapter_ = adapter;
    if (status != success || adapter == nullptr) {
      const std::string why = text_of(message);
      fail(missing_error(fmt::format("Dawn finds no GPU that it can use{}{}: it needs a Vulkan driver",
                                     why.empty() ? "" : ": ", why)));
      return;
    }
    describe();
    request_device();
  }

  void describe() {
    AdapterInfo info;
    if (call_.AdapterGetInfo(adapter_, &info) == success) {
      facts_.name = text_of(info.device);
      if (facts_.name.empty()) facts_.name = text_of(info.vendor);
      facts_.software = info.adapter_type == adapter_type_cpu;
      const std::string driver = text_of(info.description);
      facts_.driver = driver.empty() ? "Dawn, Vulkan" : "Dawn, Vulkan: " + driver;
      call_.AdapterInfoFreeMembers(info);
    }
    call_.AdapterGetLimits(adapter_, &limits_);
    facts_.timestamps = call_.AdapterHasFeature(adapter_, timestamp_query) != 0;
    facts_.max_object_bytes = static_cast<std::int64_t>(
        std::min<std::uint64_t>(limits_.max_buffer_size, limits_.max_storage_buffer_binding_size));
    facts_.max_workgroup_threads = limits_.max_compute_invocations_per_workgroup;
    facts_.max_workgroup_bytes = limits_.max_compute_workgroup_storage_size;
    facts_.max_groups = limits_.max_compute_workgroups_per_dimension;
  }

  void request_device() {
    // Only what is needed beyond the defaults.
    Limits wanted;
    wanted.max_buffer_size = limits_.max_buffer_size;
    wanted.max_storage_buffer_binding_size = limits_.max_storage_buffer_binding_size;
    wanted.max_compute_invocations_per_workgroup = limits_.max_compute_invocations_per_workgroup;
    wanted.max_compute_workgroup_size_x = limits_.max_compute_workgroup_size_x;
    wanted.max_compute_workgroup_storage_size = limits_.max_compute_workgroup_storage_size;
    const std::uint32_t features[] = {timestamp_query};
    // Times are otherwise rounded to 100 µs; shaders check their bounds themselves where they have to.
    const char* const enabled[] = {"disable_robustness", "skip_validation"};
    const char* const disabled[] = {"timestamp_quantization"};
    TogglesDescriptor toggles;
    toggles.enabled = enabled;
    toggles.enabled_count = 1;  // validation costs little, and its messages are worth it
    toggles.disabled = disabled;
    toggles.disabled_count = 1;
    DeviceDescriptor descriptor;
    descriptor.next = &toggles.chain;
    descriptor.required_limits = &wanted;
    if (facts_.timestamps) {
      descriptor.required_features = features;
      descriptor.required_feature_count = 1;
    }
    descriptor.lost.callback = [](DeviceImpl* const*, std::uint32_t, StringView message, void* self, void*) {
      auto& it = *static_cast<DawnDevice*>(self);
      if (it.closing_) return;
      it.fail(internal_error(fmt::format("the GPU {} was lost: {}", it.facts_.name, text_of(message))));
    };
    descriptor.lost.userdata1 = this;
    descriptor.error.callback = [](DeviceImpl* const*, std::uint32_t, StringView message, void* self, void*) {
      auto& it = *static_cast<DawnDevice*>(self);
      if (it.closing_) return;
      it.fail(internal_error(fmt::format("Dawn on {} says: {}", it.facts_.name, text_of(message))));
    };
    descriptor.error.userdata1 = this;
    DeviceCallbackInfo info;
    info.callback = [](std::uint32_t status, DeviceImpl* device, StringView message, void* self, void*) {
      auto& it = *static_cast<DawnDevice*>(self);
      if (status != success || device == nullptr) {
        it.fail(missing_error(fmt::format("{} provides no device: {}", it.facts_.name, text_of(message))));
        return;
      }
      it.device_ = device;
      it.queue_ = it.call_.DeviceGetQueue(device);
    };
    info.userdata1 = this;
    call_.AdapterRequestDevice(adapter_, &descriptor, info);
  }

  Status prepare(const Dispatch& dispatch, Item& item) {
    const auto program = programs_.find(dispatch.program);
    if (program == programs_.end() || program->second.pipeline == nullptr)
      return internal_error("a program is recorded before it is compiled");
    for (const std::uint32_t groups : dispatch.groups)
      if (groups == 0 || groups > facts_.max_groups)
        return limit_error(fmt::format("{}: {} workgroups in one direction; {} allows {}",
                                       program->second.label, groups, facts_.name, facts_.max_groups));
    std::vector<BindGroupEntry> entries;
    for (const Binding& binding : dispatch.bindings) {
      BindGroupEntry entry;
      entry.binding = static_cast<std::uint32_t>(entries.size());
      const auto object = objects_.find(binding.object);
      if (object == objects_.end()) return internal_error("a bound buffer does not exist");
      entry.buffer = object->second.buffer;
      entries.push_back(entry);
    }
    BindGroupLayoutImpl* const layout = call_.ComputePipelineGetBindGroupLayout(program->second.pipeline, 0);
    BindGroupDescriptor descriptor;
    descriptor.layout = layout;
    descriptor.entry_count = entries.size();
    descriptor.entries = entries.data();
    item.pipeline = program->second.pipeline;
    item.group = call_.DeviceCreateBindGroup(device_, &descriptor);
    item.groups = dispatch.groups;
    call_.BindGroupLayoutRelease(layout);
    return {};
  }

  // One pass for all dispatches, or one for each time, and the copies between them.
  void encode(Recording& it, CommandEncoderImpl* encoder) {
    ComputePassEncoderImpl* pass = nullptr;
    std::uint32_t timed_as = undefined_u32;
    it.ran.assign(it.groups, false);
    const auto end_pass = [&] {
      if (pass == nullptr) return;
      call_.ComputePassEncoderEnd(pass);
      call_.ComputePassEncoderRelease(pass);
      pass = nullptr;
    };
    for (const Item& item : it.items) {
      if (item.pipeline == nullptr) {
        end_pass();
        call_.CommandEncoderCopyBufferToBuffer(encoder, objects_.at(item.copy.object).buffer, 0, it.staging,
                                               static_cast<std::uint64_t>(item.copy.offset),
                                               static_cast<std::uint64_t>(item.copy.bytes));
        continue;
      }
      if (it.timed && item.timed_as != timed_as) end_pass();
      if (pass == nullptr) {
        PassTimestampWrites times;
        ComputePassDescriptor descriptor;
        if (it.timed && !it.ran[item.timed_as]) {
          times.query_set = it.queries;
          times.begin_index = 2 * item.timed_as;
          times.end_index = 2 * item.timed_as + 1;
          descriptor.timestamps = &times;
          it.ran[item.timed_as] = true;
        }
        pass = call_.CommandEncoderBeginComputePass(encoder, &descriptor);
        timed_as = item.timed_as;
      }
      call_.ComputePassEncoderSetPipeline(pass, item.pipeline);
      call_.ComputePassEncoderSetBindGroup(pass, 0, item.group, 0, nullptr);
      call_.ComputePassEncoderDispatchWorkgroups(pass, item.groups[0], item.groups[1], item.groups[2]);
    }
    end_pass();
    if (it.timed) {
      const auto bytes = std::uint64_t{16} * it.groups;
      call_.CommandEncoderResolveQuerySet(encoder, it.queries, 0, 2 * it.groups, it.resolved, 0);
      call_.CommandEncoderCopyBufferToBuffer(encoder, it.resolved, 0, it.staging,
                                             static_cast<std::uint64_t>(it.staging_bytes) - bytes, bytes);
    }
  }

  void take_map(std::uint32_t status, StringView message, Recording& recording) {
    if (closing_) return;
    if (status != success) {
      fail(internal_error(fmt::format("reading back from {} failed: {}", facts_.name, text_of(message))));
      return;
    }
    recording.mapped = true;
    recording.done = true;
  }

  const Functions& call_;
  InstanceImpl* instance_;
  AdapterImpl* adapter_ = nullptr;
  DeviceImpl* device_ = nullptr;
  QueueImpl* queue_ = nullptr;
  Limits limits_;
  DeviceFacts facts_;
  std::optional<Error> failure_;
  bool lost_ = false;
  bool closing_ = false;
  int compiling_ = 0;
  std::int64_t memory_ = 0;
  ObjectId last_object_ = no_id;
  ProgramId last_program_ = no_id;
  RecordingId last_recording_ = no_id;
  std::map<ObjectId, Object> objects_;
  std::map<ProgramId, Program> programs_;  // callbacks name them: their places do not change
  std::map<std::string, ProgramId, std::less<>> by_code_;
  std::map<RecordingId, Recording> recordings_;
};

}  // namespace

Result<std::shared_ptr<Device>> open() {
  const auto& loaded = library();
  if (!loaded.ok()) return loaded.error();
  return std::shared_ptr<Device>(std::make_shared<DawnDevice>(*loaded));
}

}  // namespace driftscope::gpu::dawn
