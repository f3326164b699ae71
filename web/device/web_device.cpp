// The devices of a browser: requests as JSON to web/device/devices.mjs in the same worker, bytes by their
// place in this heap. The caller that polls lets the event loop run in between. This side assigns all
// numbers, so that a device may live on the page.
#include <emscripten.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/base/json.hpp"
#include "core/device/device.hpp"
#include "core/device/texture_extent.hpp"
#include "core/protocol/error_json.hpp"

namespace {

// The reply waits in Module until it is fetched; see web/peers/bridge.cpp.
EM_JS(int, ds_gpu_request, (const char* head, int size), {
  const text = new TextDecoder().decode(new Uint8Array(wasmMemory.buffer, head >>> 0, size).slice());
  const absent = { available: false, error: { kind: "missing", message: "this host has no GPU" } };
  const reply = Module["gpu"] ? Module["gpu"].request(JSON.parse(text), wasmMemory) : absent;
  Module["gpuReply"] = new TextEncoder().encode(JSON.stringify(reply));
  return Module["gpuReply"].length;
});

EM_JS(void, ds_gpu_reply, (char* to), {
  new Uint8Array(wasmMemory.buffer, to >>> 0, Module["gpuReply"].length).set(Module["gpuReply"]);
  Module["gpuReply"] = null;
});

}  // namespace

namespace driftscope::gpu {
namespace {

using nlohmann::json;

json ask(json request, std::span<const std::byte> bytes = {}) {
  if (bytes.data() != nullptr) {
    request["at"] = reinterpret_cast<std::uintptr_t>(bytes.data());
    request["size"] = bytes.size();
  }
  const std::string head = json_text(request);
  std::string reply(static_cast<std::size_t>(ds_gpu_request(head.data(), static_cast<int>(head.size()))),
                    '\0');
  ds_gpu_reply(reply.data());
  return parse_json(reply);
}

const char* name_of(Api api) { return api == Api::webgl ? "webgl" : "webgpu"; }

class WebDevice final : public Device {
 public:
  explicit WebDevice(Api api) : api_(api) {
    static int last = 0;
    id_ = ++last;
    (void)checked(send({{"do", "open"}, {"api", name_of(api)}}));
  }
  WebDevice(const WebDevice&) = delete;
  WebDevice& operator=(const WebDevice&) = delete;
  ~WebDevice() override { (void)send({{"do", "close"}}); }

  Result<bool> ready() override {
    const json now = send({{"do", "look"}});
    DRIFTSCOPE_CHECK(checked(now));
    if (const auto facts = now.find("facts"); facts != now.end() && facts->is_object()) {
      facts_.name = facts->value("name", "");
      facts_.driver = api_ == Api::webgl ? "WebGL2 of the browser" : "WebGPU of the browser";
      facts_.software = facts->value("software", false);
      facts_.timestamps = facts->value("timestamps", false);
      facts_.max_object_bytes = facts->value("max_object_bytes", std::int64_t{0});
      facts_.max_workgroup_threads = facts->value("max_workgroup_threads", 0u);
      facts_.max_workgroup_bytes = facts->value("max_workgroup_bytes", 0u);
      facts_.max_groups = facts->value("max_groups", 0u);
      facts_.layers = facts->value("layers", 1);
      facts_.precision_bits = facts->value("precision_bits", 0);
    }
    compiled_ = now.value("compiled", std::int64_t{0});
    return now.value("ready", false);
  }

  bool lost() const override { return lost_; }
  void give_up() override { lost_ = true; }
  const DeviceFacts& facts() const override { return facts_; }

  Result<ObjectId> make_object(ObjectSize size, std::string_view label) override {
    if (size.bytes <= 0 || size.bytes % 4 != 0)
      return internal_error(fmt::format("an object of {} bytes was requested ({})", size.bytes, label));
    json request = {{"do", "object"}, {"id", last_object_ + 1}, {"label", label}};
    std::int64_t bytes = size.bytes;
    if (api_ == Api::webgl) {
      const TextureExtent extent = object_extent(bytes, size.layers);
      if (extent.width > facts_.max_groups || extent.height > facts_.max_groups)
        return limit_error(fmt::format("{} needs a texture of {} x {} texels; {} allows {} x {}", label,
                                       extent.width, extent.height, facts_.name, facts_.max_groups,
                                       facts_.max_groups));
      request["width"] = extent.width;
      request["height"] = extent.height;
      request["layers"] = size.layers;
      bytes = extent.width * extent.height * size.layers * texel_bytes;
    } else if (bytes > facts_.max_object_bytes) {
      return limit_error(fmt::format("{} needs a buffer of {} bytes; {} allows {}", label, bytes, facts_.name,
                                     facts_.max_object_bytes));
    }
    request["bytes"] = bytes;
    DRIFTSCOPE_CHECK(checked(send(std::move(request))));
    memory_ += bytes;
    objects_[++last_object_] = bytes;
    return last_object_;
  }

  void release_object(ObjectId id) override {
    const auto found = objects_.find(id);
    if (found == objects_.end()) return;
    memory_ -= found->second;
    objects_.erase(found);
    (void)send({{"do", "release_object"}, {"object", id}});
  }

  Status write(ObjectId id, std::span<const std::byte> bytes, std::int64_t layer_bytes) override {
    const auto found = objects_.find(id);
    if (found == objects_.end() || std::ssize(bytes) > found->second || bytes.size() % 4 != 0 ||
        layer_bytes <= 0)
      return internal_error(fmt::format("{} bytes do not fit into object {}", bytes.size(), id));
    json request = {{"do", "write"}, {"object", id}};
    if (api_ == Api::webgl) {
      request["layer_bytes"] = layer_bytes;
      request["width"] = row_texels(layer_bytes);
    }
    return checked(send(std::move(request), bytes));
  }

  ProgramId make_program(std::string_view label, std::string_view code) override {
    const auto known = by_code_.find(code);
    if (known != by_code_.end()) return known->second;
    const ProgramId id = ++last_program_;
    (void)checked(send({{"do", "program"}, {"id", id}, {"label", label}}, std::as_bytes(std::span(code))));
    by_code_.emplace(code, id);
    return id;
  }

  ProgramCounts program_counts() const override { return {last_program_, compiled_}; }

  Result<RecordingId> record(std::vector<Command> commands, bool timed) override {
    timed = timed && facts_.timestamps;
    json list = json::array();
    std::uint32_t groups = 0;
    std::int64_t bytes = 0;
    for (const Command& command : commands) {
      json item = {{"timed_as", command.timed_as}};
      groups = std::max(groups, command.timed_as + 1);
      if (command.dispatch) {
        DRIFTSCOPE_CHECK(add_dispatch(*command.dispatch, item));
      } else {
        const CopyBack& copy = command.copy;
        bytes = std::max(bytes, copy.offset + copy.bytes);
        item["copy"] = {{"object", copy.object}, {"bytes", copy.bytes}, {"offset", copy.offset}};
        if (api_ == Api::webgl) {
          item["copy"]["layer_bytes"] = copy.layer_bytes;
          item["copy"]["width"] = row_texels(copy.layer_bytes);
        }
      }
      list.push_back(std::move(item));
    }
    const RecordingId id = ++last_recording_;
    const std::int64_t staging = staging_bytes(bytes, timed ? groups : 0);
    DRIFTSCOPE_CHECK(checked(send({{"do", "record"},
                                   {"id", id},
                                   {"commands", std::move(list)},
                                   {"timed", timed},
                                   {"groups", groups},
                                   {"staging_bytes", staging}})));
    recordings_[id] = staging;
    memory_ += staging;
    return id;
  }

  void release_recording(RecordingId id) override {
    memory_ -= recordings_[id];
    recordings_.erase(id);
    (void)send({{"do", "release_recording"}, {"recording", id}});
  }

  Status submit(RecordingId id) override { return checked(send({{"do", "submit"}, {"recording", id}})); }

  Result<std::optional<Finished>> finished(RecordingId id) override {
    const json now = send({{"do", "finished"}, {"recording", id}});
    DRIFTSCOPE_CHECK(checked(now));
    if (!now.value("done", false)) return std::optional<Finished>();
    return std::optional<Finished>(Finished{now.value("times", std::vector<std::int64_t>())});
  }

  Status read(RecordingId id, std::int64_t offset, std::span<std::byte> target) override {
    return checked(send({{"do", "read"}, {"recording", id}, {"offset", offset}}, target));
  }

  std::int64_t memory() const override { return memory_; }

 private:
  json send(json request, std::span<const std::byte> bytes = {}) const {
    request["device"] = id_;
    return ask(std::move(request), bytes);
  }

  Status add_dispatch(const Dispatch& dispatch, json& item) const {
    for (const std::uint32_t size : dispatch.groups)
      if (size == 0 || size > facts_.max_groups)
        return limit_error(fmt::format("{} {} in one direction; {} allows {}", size,
                                       api_ == Api::webgl ? "texels" : "workgroups", facts_.name,
                                       facts_.max_groups));
    item["program"] = dispatch.program;
    item["size"] = dispatch.groups;
    item["bindings"] = json::array();
    for (const Binding& binding : dispatch.bindings) item["bindings"].push_back(binding.object);
    item["reads"] = std::ranges::count_if(dispatch.bindings, [](const Binding& it) { return !it.written; });
    return {};
  }

  // What comes back, and behind it WebGPU's times. WebGL writes whole texels.
  std::int64_t staging_bytes(std::int64_t bytes, std::uint32_t times) const {
    if (api_ == Api::webgl) return bytes == 0 ? 0 : (bytes + 2 * texel_bytes - 1) / texel_bytes * texel_bytes;
    return (bytes + 7) / 8 * 8 + std::int64_t{16} * times;
  }

  Status checked(const json& reply) {
    const auto error = reply.find("error");
    if (error == reply.end()) return {};
    lost_ = true;
    return error_from_json(*error);
  }

  Api api_;
  int id_ = 0;
  DeviceFacts facts_;
  bool lost_ = false;
  std::int64_t memory_ = 0;
  ObjectId last_object_ = no_id;
  ProgramId last_program_ = no_id;
  std::int64_t compiled_ = 0;
  RecordingId last_recording_ = no_id;
  std::map<ObjectId, std::int64_t> objects_;
  std::map<RecordingId, std::int64_t> recordings_;
  std::map<std::string, ProgramId, std::less<>> by_code_;
};

}  // namespace

Availability device_available(Api api) {
  if (ask({{"do", "available"}, {"api", name_of(api)}}).value("available", false)) return {};
  if (api == Api::webgl) return {false, "this browser has no WebGL2"};
  return {false, "this browser has no WebGPU, or not in workers"};
}

Result<std::shared_ptr<Device>> open_device(Api api) {
  if (const Availability there = device_available(api); !there.ok) return missing_error(there.reason);
  static auto* const kept = new std::array<std::shared_ptr<Device>, 2>;
  std::shared_ptr<Device>& device = (*kept)[static_cast<std::size_t>(api)];
  if (device == nullptr || device->lost()) device = std::make_shared<WebDevice>(api);
  return device;
}

}  // namespace driftscope::gpu
