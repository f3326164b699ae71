#include "core/protocol/peer_runtime.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/engines/peer/graph_json.hpp"
#include "core/protocol/error_json.hpp"

namespace driftscope::peer {
namespace {

using nlohmann::json;

// {"dtype","shape","bytes"} of a value that a run has made.
Result<Tensor> announced(const PeerInfo& peer, const std::string& name, const json& value) {
  const auto type = value.at("dtype").get<std::string>();
  const auto dtype = dtype_named(type);
  if (!dtype)
    return unsupported(
        fmt::format("{} returned value {} as {}, which is not known here", peer.title, name, type));
  const auto shape = value.at("shape").get<Shape>();
  DRIFTSCOPE_TRY(const std::int64_t expected, tensor_byte_size(*dtype, shape, name));
  const auto bytes = value.at("bytes").get<std::int64_t>();
  if (bytes != expected)
    return said(peer, ErrorKind::internal,
                fmt::format("value {} is {} {}; expected {} bytes, got {}", name, type, shape_text(shape),
                            expected, bytes));
  return Tensor::unwritten(*dtype, shape, name);
}

class JsonModel final : public RuntimeModel {
 public:
  JsonModel(const JsonRuntime& runtime, std::shared_ptr<Channel> channel)
      : runtime_(runtime), channel_(std::move(channel)) {}
  JsonModel(const JsonModel&) = delete;
  JsonModel& operator=(const JsonModel&) = delete;
  ~JsonModel() override {
    try {
      if (!model_.is_null()) (void)ask({{"do", "release"}, {"model", model_}});
    } catch (...) {
      channel_.reset();  // no memory to ask with: the runtime keeps the model until it ends
    }
  }

  [[nodiscard]] Status create(json request, const Parcel& parcel) {
    DRIFTSCOPE_TRY(const json reply, ask(std::move(request), parcel));
    model_ = reply.at("model");
    return {};
  }

  [[nodiscard]] Result<bool> ready() override {
    DRIFTSCOPE_TRY(const json now, look());
    if (now.value("busy", false)) return false;
    about_ = now.at("about");
    return true;
  }

  [[nodiscard]] Status run(std::span<const NamedTensor> inputs, std::span<const std::string> outputs,
                           bool timed) override {
    Parcel parcel;
    json list = json::array();
    for (const auto& [name, tensor] : inputs) {
      if (const std::string why = runtime_.lacks(tensor.dtype()); !why.empty())
        return unsupported(fmt::format("input {}: {}", name, why));
      list.push_back(channel_->place(parcel, tensor.bytes()));
      list.back()["name"] = name;
      list.back()["dtype"] = dtype_name(tensor.dtype());
      list.back()["shape"] = tensor.shape();
    }
    names_.assign(outputs.begin(), outputs.end());
    json request = {{"do", "run"}, {"model", model_}, {"inputs", list}, {"outputs", names_}};
    if (timed) request["timed"] = true;
    DRIFTSCOPE_CHECK(ask(std::move(request), parcel));
    return {};
  }

  [[nodiscard]] Result<std::optional<RunResult>> result() override {
    DRIFTSCOPE_TRY(const json now, look());
    if (now.value("busy", false)) return std::optional<RunResult>();
    about_ = now.at("about");
    RunResult result;
    result.time_ns = now.at("time_ns").get<std::int64_t>();
    for (const json& one : now.value("times", json::array()))
      result.times.emplace_back(one.at(0).get<std::string>(), one.at(1).get<std::int64_t>());
    const json& values = now.at("values");
    if (values.size() != names_.size())
      return said(runtime_.peer(), ErrorKind::internal,
                  fmt::format("{} values were asked for, {} came", names_.size(), values.size()));
    Parcel parcel;
    json places = json::array();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      DRIFTSCOPE_TRY(Tensor tensor, announced(runtime_.peer(), names_[i], values[i]));
      places.push_back(channel_->place_for_reply(parcel, tensor.mutable_bytes()));
      result.values.push_back({names_[i], std::move(tensor)});
    }
    DRIFTSCOPE_CHECK(ask({{"do", "copy"}, {"model", model_}, {"to", places}}, parcel));
    return std::optional<RunResult>(std::move(result));
  }

  [[nodiscard]] Result<std::vector<std::byte>> rewritten() override {
    return internal_error(runtime_.peer().in_browsers.package + " keeps no rewritten model");
  }

  [[nodiscard]] std::optional<MemorySample> memory() const override {
    if (auto whole = channel_->memory()) return whole;
    const auto reply = ask({{"do", "heap"}});
    if (!reply.ok() || !reply->at("bytes").is_number_unsigned()) return std::nullopt;
    return MemorySample{reply->at("bytes").get<std::int64_t>(),
                        reply->value("kind", runtime_.peer().engine.name + "_wasm_heap")};
  }

  void describe(RanWith& ran) const override {
    ran.instruction_set = about_.value("instruction_set", "");
    ran.threads_real = about_.value("threads", 1);
    ran.device = about_.value("device", ran.device);
    const json options = about_.value("options", json::object());
    for (const auto& [name, value] : options.items()) ran.options[name] = value.get<std::string>();
    for (const json& error : about_.value("device_errors", json::array()))
      ran.device_errors.push_back(
          fmt::format("{}: {}", runtime_.peer().in_browsers.title, error.get<std::string>()));
  }

  [[nodiscard]] bool wait() override { return channel_->wait(); }

 private:
  // {"error":{"kind","message"}}: the runtime's words, unless marked as the host's own.
  [[nodiscard]] Result<json> ask(json request, const Parcel& parcel = {}) const {
    request["peer"] = runtime_.peer().engine.name;
    DRIFTSCOPE_TRY(json reply, channel_->ask(std::move(request), parcel));
    if (!reply.is_object()) return internal_error("web/peers/peers.mjs gave a malformed reply");
    const auto error = reply.find("error");
    if (error == reply.end()) return reply;
    const Error read = error_from_json(*error);
    return error->value("own", false) ? read : said(runtime_.peer(), read.kind, read.message);
  }

  [[nodiscard]] Result<json> look() const { return ask({{"do", "look"}, {"model", model_}}); }

  const JsonRuntime& runtime_;
  std::shared_ptr<Channel> channel_;
  json model_;  // the host's number for it
  json about_ = json::object();
  std::vector<std::string> names_;
};

json place_file(Channel& channel, Parcel& parcel, const std::string& name, std::span<const std::byte> bytes) {
  json placed = channel.place(parcel, bytes);
  placed["name"] = name;
  return placed;
}

}  // namespace

std::string JsonRuntime::lacks(DType dtype) const {
  const auto& lacking = peer_.in_browsers.lacking;
  if (std::ranges::find(lacking, dtype) == lacking.end()) return {};
  return fmt::format("{} has no tensors of {}", peer_.in_browsers.package, dtype_name(dtype));
}

Result<std::unique_ptr<RuntimeModel>> JsonRuntime::create(const CreateRequest& request) const {
  DRIFTSCOPE_TRY(std::shared_ptr<Channel> channel, connect_());
  json head = {{"do", "create"},
               {"title", fmt::format("{} {}", peer_.title, peer_.version)},
               {"options", request.options},
               {"threads", request.threads}};
  Parcel parcel;
  if (request.converted) {
    head["converted"] = json::array();
    for (const convert::File& file : request.converted->files)
      head["converted"].push_back(place_file(*channel, parcel, file.name, file.bytes));
  } else if (request.graph) {
    const auto place = [&](std::span<const std::byte> bytes) { return channel->place(parcel, bytes); };
    DRIFTSCOPE_TRY(head["graph"], graph_json(*request.graph, place));
  } else {
    head["bytes"] = channel->place(parcel, request.model);
    head["files"] = json::array();
    for (const SourceFile& file : request.source->files)
      head["files"].push_back(place_file(*channel, parcel, file.name, file.bytes.bytes()));
  }
  auto model = std::make_unique<JsonModel>(*this, std::move(channel));
  DRIFTSCOPE_CHECK(model->create(std::move(head), parcel));
  return std::unique_ptr<RuntimeModel>(std::move(model));
}

}  // namespace driftscope::peer
