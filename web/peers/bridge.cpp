// Every peer in a browser: a runtime in JavaScript in the same worker. It is asynchronous: requests go to
// web/peers/peers.mjs as JSON, bytes by their address in this heap, and between polls the event loop
// runs. A further peer is its web/peers/NAME/NAME.mjs; nothing here knows one by name.
#include <emscripten.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/base/json.hpp"
#include "core/engines/peer/graph_json.hpp"
#include "core/engines/peer/runtime.hpp"
#include "core/protocol/error_json.hpp"

namespace {

// The reply stays in Module until it is fetched. Memory may be shared, which TextDecoder rejects: slice
// copies. Addresses arrive as signed numbers.
EM_JS(int, ds_peers_present, (), { return Module["peers"] ? 1 : 0; });

EM_JS(int, ds_peer_request, (const char* head, int size), {
  const text = new TextDecoder().decode(new Uint8Array(wasmMemory.buffer, head >>> 0, size).slice());
  const reply = Module["peers"].request(JSON.parse(text), wasmMemory);
  Module["peerReply"] = new TextEncoder().encode(JSON.stringify(reply));
  return Module["peerReply"].length;
});

EM_JS(void, ds_peer_reply, (char* to), {
  new Uint8Array(wasmMemory.buffer, to >>> 0, Module["peerReply"].length).set(Module["peerReply"]);
  Module["peerReply"] = null;
});

}  // namespace

namespace driftscope::peer {
namespace {

using nlohmann::json;

/// The location of these bytes for the host.
json place(std::span<const std::byte> bytes) {
  return {{"at", reinterpret_cast<std::uintptr_t>(bytes.data())}, {"bytes", bytes.size()}};
}

std::optional<DType> dtype_named(std::string_view name) {
  for (std::int64_t number = 1; number <= static_cast<std::int64_t>(DType::int4); ++number)
    if (const auto dtype = dtype_from_onnx(number); dtype && dtype_name(*dtype) == name) return dtype;
  return std::nullopt;
}

class WebRuntime final : public Runtime {
 public:
  explicit WebRuntime(const PeerInfo& peer) : peer_(peer) {}

  [[nodiscard]] Availability available() const override {
    if (ds_peers_present() == 0)
      return {false, peer_.in_browsers.package + " is not attached to this instance"};
    return {true, fmt::format("{} {}", peer_.in_browsers.title, peer_.version)};
  }
  [[nodiscard]] std::string hides_rewritten() const override { return peer_.in_browsers.hides_rewritten; }
  [[nodiscard]] std::string lacks(DType dtype) const override {
    const auto& lacking = peer_.in_browsers.lacking;
    if (std::ranges::find(lacking, dtype) == lacking.end()) return {};
    return fmt::format("{} has no tensors of {}", peer_.in_browsers.package, dtype_name(dtype));
  }
  [[nodiscard]] Result<std::unique_ptr<RuntimeModel>> create(const CreateRequest& request) const override;

  [[nodiscard]] const PeerInfo& peer() const { return peer_; }

  [[nodiscard]] json ask(json request) const {
    request["peer"] = peer_.engine.name;
    const std::string head = json_text(request);
    std::string reply(static_cast<std::size_t>(ds_peer_request(head.data(), static_cast<int>(head.size()))),
                      '\0');
    ds_peer_reply(reply.data());
    return parse_json(reply);
  }

  /// {"error":{"kind","message"}}: the runtime's words, unless marked as the host's own.
  [[nodiscard]] Status rejected(const json& reply) const {
    const auto error = reply.find("error");
    if (error == reply.end()) return {};
    const Error read = error_from_json(*error);
    return error->value("own", false) ? read : said(peer_, read.kind, read.message);
  }

 private:
  const PeerInfo& peer_;
};

class WebModel final : public RuntimeModel {
 public:
  /// `create`: the request that creates it.
  WebModel(const WebRuntime& runtime, json create)
      : runtime_(runtime), model_(runtime_.ask(std::move(create))["model"]) {}
  WebModel(const WebModel&) = delete;
  WebModel& operator=(const WebModel&) = delete;
  ~WebModel() override { (void)runtime_.ask({{"do", "release"}, {"model", model_}}); }

  [[nodiscard]] Result<bool> ready() override {
    DRIFTSCOPE_TRY(const json now, look());
    if (now.value("busy", false)) return false;
    about_ = now.at("about");
    return true;
  }

  [[nodiscard]] Status run(std::span<const NamedTensor> inputs,
                           std::span<const std::string> outputs) override {
    json list = json::array();
    for (const auto& [name, tensor] : inputs) {
      if (const std::string why = runtime_.lacks(tensor.dtype()); !why.empty())
        return unsupported(fmt::format("input {}: {}", name, why));
      list.push_back(place(tensor.bytes()));
      list.back()["name"] = name;
      list.back()["dtype"] = dtype_name(tensor.dtype());
      list.back()["shape"] = tensor.shape();
    }
    names_.assign(outputs.begin(), outputs.end());
    return runtime_.rejected(
        runtime_.ask({{"do", "run"}, {"model", model_}, {"inputs", list}, {"outputs", names_}}));
  }

  [[nodiscard]] Result<std::optional<RunResult>> result() override {
    DRIFTSCOPE_TRY(const json now, look());
    if (now.value("busy", false)) return std::optional<RunResult>();
    RunResult result{{}, now.at("time_ns").get<std::int64_t>()};
    json places = json::array();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const json& value = now.at("values").at(i);
      const auto dtype = dtype_named(value.at("dtype").get<std::string>());
      if (!dtype)
        return unsupported(fmt::format("value {}: its type is {}, which is not known here", names_[i],
                                       value.at("dtype").get<std::string>()));
      DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(*dtype, value.at("shape").get<Shape>(), names_[i]));
      if (tensor.bytes().size() != value.at("bytes").get<std::size_t>())
        return internal_error(fmt::format("value {}: {} bytes came for {}", names_[i],
                                          value.at("bytes").get<std::size_t>(), tensor.bytes().size()));
      places.push_back(place(tensor.bytes()));
      result.values.push_back({names_[i], std::move(tensor)});
    }
    DRIFTSCOPE_CHECK(runtime_.rejected(runtime_.ask({{"do", "copy"}, {"model", model_}, {"to", places}})));
    return std::optional<RunResult>(std::move(result));
  }

  [[nodiscard]] Result<std::vector<std::byte>> rewritten() override {
    return internal_error(runtime_.peer().in_browsers.package + " keeps no rewritten model");
  }

  [[nodiscard]] std::optional<MemorySample> memory() const override {
    const json bytes = runtime_.ask({{"do", "heap"}})["bytes"];
    if (!bytes.is_number_unsigned()) return std::nullopt;
    return MemorySample{bytes.get<std::int64_t>(), runtime_.peer().engine.name + "_wasm_heap"};
  }

  void describe(RanWith& ran) const override {
    ran.instruction_set = about_.value("instruction_set", "");
    ran.threads_real = about_.value("threads", 1);
    ran.device = about_.value("device", ran.device);
    const json options = about_.value("options", json::object());
    for (const auto& [name, value] : options.items()) ran.options[name] = value.get<std::string>();
  }

 private:
  Result<json> look() const {
    json now = runtime_.ask({{"do", "look"}, {"model", model_}});
    if (!now.is_object()) return internal_error("web/peers/peers.mjs gave a malformed reply");
    DRIFTSCOPE_CHECK(runtime_.rejected(now));
    return now;
  }

  const WebRuntime& runtime_;
  json model_;  // the host's number for it
  json about_ = json::object();
  std::vector<std::string> names_;
};

Result<std::unique_ptr<RuntimeModel>> WebRuntime::create(const CreateRequest& request) const {
  json head = {{"do", "create"}, {"options", request.options}, {"threads", request.threads}};
  if (request.graph) {
    DRIFTSCOPE_TRY(head["graph"], graph_json(*request.graph, place));
  } else {
    head["bytes"] = place(request.model);
    head["files"] = json::array();
    for (const SourceFile& file : request.source->files) {
      head["files"].push_back(place(file.bytes));
      head["files"].back()["name"] = file.name;
    }
  }
  return std::unique_ptr<RuntimeModel>(std::make_unique<WebModel>(*this, std::move(head)));
}

}  // namespace

const Runtime& runtime_of(const PeerInfo& peer) {
  static std::map<std::string, WebRuntime, std::less<>> runtimes;
  return runtimes.try_emplace(peer.engine.name, peer).first->second;
}

}  // namespace driftscope::peer
