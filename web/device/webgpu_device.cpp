// A WebGPU device in a browser: requests as JSON to web/device/webgpu.mjs in the same worker, bytes by their
// place in this heap. Whoever polls lets the event loop run in between.
#include <emscripten.h>
#include <fmt/format.h>

#include <map>

#include "core/base/json.hpp"
#include "core/device/device.hpp"
#include "core/protocol/error_json.hpp"

namespace {

EM_JS(int, ds_gpu_present, (), { return Module["gpu"] && Module["gpu"].available ? 1 : 0; });

// The reply waits in Module until it is fetched; see web/peers/bridge.cpp.
EM_JS(int, ds_gpu_request, (const char* head, int size), {
  const text = new TextDecoder().decode(new Uint8Array(wasmMemory.buffer, head >>> 0, size).slice());
  const reply = Module["gpu"].request(JSON.parse(text), wasmMemory);
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

class WebDevice final : public Device {
 public:
  WebDevice() { id_ = ask({{"do", "open"}}).value("id", 0); }
  WebDevice(const WebDevice&) = delete;
  WebDevice& operator=(const WebDevice&) = delete;
  ~WebDevice() override { (void)ask({{"do", "close"}}); }

  Result<bool> ready() override {
    const json now = ask({{"do", "look"}});
    DRIFTSCOPE_CHECK(checked(now));
    if (const auto facts = now.find("facts"); facts != now.end() && facts->is_object()) {
      facts_.name = facts->value("name", "");
      facts_.driver = "WebGPU of the browser";
      facts_.software = facts->value("software", false);
      facts_.timestamps = facts->value("timestamps", false);
      facts_.max_object_bytes = facts->value("max_object_bytes", std::int64_t{0});
      facts_.max_workgroup_threads = facts->value("max_workgroup_threads", 0u);
      facts_.max_workgroup_bytes = facts->value("max_workgroup_bytes", 0u);
      facts_.max_groups = facts->value("max_groups", 0u);
    }
    return now.value("ready", false);
  }

  bool lost() const override { return lost_; }
  const DeviceFacts& facts() const override { return facts_; }

  Result<ObjectId> make_object(std::int64_t bytes, std::string_view label) override {
    if (bytes <= 0 || bytes % 4 != 0)
      return internal_error(fmt::format("a buffer of {} bytes was asked for ({})", bytes, label));
    if (bytes > facts_.max_object_bytes)
      return limit_error(fmt::format("{} needs a buffer of {} bytes; {} allows {}", label, bytes, facts_.name,
                                     facts_.max_object_bytes));
    const json made = ask({{"do", "object"}, {"bytes", bytes}, {"label", label}});
    DRIFTSCOPE_CHECK(checked(made));
    const auto id = made.at("id").get<ObjectId>();
    memory_ += bytes;
    objects_[id] = bytes;
    return id;
  }

  void release_object(ObjectId id) override {
    const auto found = objects_.find(id);
    if (found == objects_.end()) return;
    memory_ -= found->second;
    objects_.erase(found);
    (void)ask({{"do", "release_object"}, {"object", id}});
  }

  Status write(ObjectId id, std::span<const std::byte> bytes) override {
    const auto found = objects_.find(id);
    if (found == objects_.end() || std::ssize(bytes) > found->second || bytes.size() % 4 != 0)
      return internal_error(fmt::format("{} bytes do not fit into buffer {}", bytes.size(), id));
    return checked(ask({{"do", "write"}, {"object", id}}, bytes));
  }

  ProgramId make_program(std::string_view label, std::string_view code) override {
    const auto known = by_code_.find(code);
    if (known != by_code_.end()) return known->second;
    const ProgramId id =
        ask({{"do", "program"}, {"label", label}}, std::as_bytes(std::span(code))).value("id", no_id);
    by_code_.emplace(code, id);
    return id;
  }

  Result<RecordingId> record(std::vector<Command> commands, bool timed) override {
    json list = json::array();
    std::uint32_t groups = 0;
    for (const Command& command : commands) {
      json item = {{"timed_as", command.timed_as}};
      groups = std::max(groups, command.timed_as + 1);
      if (command.dispatch) {
        for (const std::uint32_t size : command.dispatch->groups)
          if (size == 0 || size > facts_.max_groups)
            return limit_error(fmt::format("{} workgroups in one direction; {} allows {}", size, facts_.name,
                                           facts_.max_groups));
        item["program"] = command.dispatch->program;
        item["size"] = command.dispatch->groups;
        item["bindings"] = json::array();
        for (const Binding& binding : command.dispatch->bindings) item["bindings"].push_back(binding.object);
      } else {
        item["copy"] = {
            {"object", command.copy.object}, {"bytes", command.copy.bytes}, {"offset", command.copy.offset}};
      }
      list.push_back(std::move(item));
    }
    const json made = ask({{"do", "record"},
                           {"commands", std::move(list)},
                           {"timed", timed && facts_.timestamps},
                           {"groups", groups}});
    DRIFTSCOPE_CHECK(checked(made));
    const auto id = made.at("id").get<RecordingId>();
    recordings_[id] = made.at("staging_bytes").get<std::int64_t>();
    memory_ += recordings_[id];
    return id;
  }

  void release_recording(RecordingId id) override {
    memory_ -= recordings_[id];
    recordings_.erase(id);
    (void)ask({{"do", "release_recording"}, {"recording", id}});
  }

  Status submit(RecordingId id) override { return checked(ask({{"do", "submit"}, {"recording", id}})); }

  Result<std::optional<Finished>> finished(RecordingId id) override {
    const json now = ask({{"do", "finished"}, {"recording", id}});
    DRIFTSCOPE_CHECK(checked(now));
    if (!now.value("done", false)) return std::optional<Finished>();
    return std::optional<Finished>(Finished{now.value("times", std::vector<std::int64_t>())});
  }

  Status read(RecordingId id, std::int64_t offset, std::span<std::byte> target) override {
    return checked(ask({{"do", "read"}, {"recording", id}, {"offset", offset}}, target));
  }

  std::int64_t memory() const override { return memory_; }

 private:
  json ask(json request, std::span<const std::byte> bytes = {}) const {
    request["device"] = id_;
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

  Status checked(const json& reply) {
    const auto error = reply.find("error");
    if (error == reply.end()) return {};
    lost_ = true;
    return error_from_json(*error);
  }

  int id_ = 0;
  DeviceFacts facts_;
  bool lost_ = false;
  std::int64_t memory_ = 0;
  std::map<ObjectId, std::int64_t> objects_;
  std::map<RecordingId, std::int64_t> recordings_;
  std::map<std::string, ProgramId, std::less<>> by_code_;
};

}  // namespace

Availability device_available(Api api) {
  if (api == Api::webgl) return {false, "WebGL's shaders do not run in this build"};
  if (ds_gpu_present() != 0) return {};
  return {false, "this browser has no WebGPU, or not in workers"};
}

Result<std::shared_ptr<Device>> open_device(Api api) {
  if (const Availability there = device_available(api); !there.ok) return missing_error(there.reason);
  static auto* const kept = new std::shared_ptr<Device>;
  if (*kept == nullptr || (*kept)->lost()) *kept = std::make_shared<WebDevice>();
  return *kept;
}

}  // namespace driftscope::gpu
