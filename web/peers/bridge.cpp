// engines/ort's backend in a browser: onnxruntime-web in the same worker. It is JavaScript, and
// asynchronous: requests go to web/peers/ort/ort.mjs as JSON, bytes by their place in this heap, and whoever
// polls lets the event loop run in between.
#include "core/engines/ort/backend.hpp"
#include "core/base/json.hpp"

#include <emscripten.h>
#include <fmt/format.h>

#include "core/protocol/error_json.hpp"

namespace {

// The host's answer waits in Module until it is fetched. Memory may be shared, which TextDecoder rejects:
// slice copies. Addresses arrive as signed numbers.
EM_JS(int, ds_ort_present, (), { return Module["ort"] ? 1 : 0; });

EM_JS(int, ds_ort_request, (const char* head, int size), {
  const text = new TextDecoder().decode(new Uint8Array(wasmMemory.buffer, head >>> 0, size).slice());
  const reply = Module["ort"].request(JSON.parse(text), wasmMemory);
  Module["ortReply"] = new TextEncoder().encode(JSON.stringify(reply));
  return Module["ortReply"].length;
});

EM_JS(void, ds_ort_reply, (char* to), {
  new Uint8Array(wasmMemory.buffer, to >>> 0, Module["ortReply"].length).set(Module["ortReply"]);
  Module["ortReply"] = null;
});

}  // namespace

namespace driftscope::ort {
namespace {

using nlohmann::json;

json ask(const json& request) {
  const std::string head = json_text(request);
  std::string reply(static_cast<std::size_t>(ds_ort_request(head.data(), static_cast<int>(head.size()))),
                    '\0');
  ds_ort_reply(reply.data());
  return parse_json(reply);
}

/// Where the host finds these bytes.
json place(std::span<const std::byte> bytes) {
  return {{"at", reinterpret_cast<std::uintptr_t>(bytes.data())}, {"bytes", bytes.size()}};
}

/// {"error":{"kind","message"}}: in ONNX Runtime's words, unless the host says that they are its own.
Status rejected(const json& reply) {
  const auto error = reply.find("error");
  if (error == reply.end()) return {};
  const Error read = error_from_json(*error);
  return error->value("own", false) ? read : said(read.kind, read.message);
}

std::string_view level(Optimization optimization) {
  switch (optimization) {
    case Optimization::none: return "disabled";
    case Optimization::basic: return "basic";
    case Optimization::extended: return "extended";
    case Optimization::all: break;
  }
  return "all";
}

class WebModel final : public RuntimeModel {
 public:
  explicit WebModel(const CreateRequest& request) {
    json files = json::array();
    for (const SourceFile& file : request.source->files) {
      files.push_back(place(file.bytes));
      files.back()["name"] = file.name;
    }
    model_ = ask({{"do", "create"},
                  {"model", place(request.model)},
                  {"files", files},
                  {"optimization", level(request.optimization)},
                  {"config", request.config},
                  {"threads", request.threads}})["model"];
  }
  WebModel(const WebModel&) = delete;
  WebModel& operator=(const WebModel&) = delete;
  ~WebModel() override { ask({{"do", "release"}, {"model", model_}}); }

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
      if (const std::string why = type_lacking(tensor.dtype()); !why.empty())
        return unsupported(fmt::format("input {}: {}", name, why));
      list.push_back(place(tensor.bytes()));
      list.back()["name"] = name;
      list.back()["dtype"] = dtype_name(tensor.dtype());
      list.back()["shape"] = tensor.shape();
    }
    names_.assign(outputs.begin(), outputs.end());
    return rejected(ask({{"do", "run"}, {"model", model_}, {"inputs", list}, {"outputs", names_}}));
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
    DRIFTSCOPE_CHECK(rejected(ask({{"do", "copy"}, {"model", model_}, {"to", places}})));
    return std::optional<RunResult>(std::move(result));
  }

  [[nodiscard]] Result<std::vector<std::byte>> optimized() override {
    return internal_error("onnxruntime-web keeps no optimised model");
  }

  [[nodiscard]] std::optional<MemorySample> memory() const override {
    const json bytes = ask({{"do", "heap"}})["bytes"];
    if (!bytes.is_number_unsigned()) return std::nullopt;
    return MemorySample{bytes.get<std::int64_t>(), "ort_wasm_heap"};
  }

  void describe(RanWith& ran) const override {
    ran.instruction_set = about_.value("instruction_set", "");
    ran.threads_real = about_.value("threads", 1);
    ran.options["wasm"] = about_.value("wasm", "");
  }

  static std::string type_lacking(DType dtype) {
    if (dtype == DType::bfloat16) return "onnxruntime-web has no tensors of bfloat16";
    return {};
  }

 private:
  static std::optional<DType> dtype_named(std::string_view name) {
    for (std::int64_t number = 1; number <= static_cast<std::int64_t>(DType::int4); ++number)
      if (const auto dtype = dtype_from_onnx(number); dtype && dtype_name(*dtype) == name) return dtype;
    return std::nullopt;
  }

  Result<json> look() const {
    json now = ask({{"do", "look"}, {"model", model_}});
    if (!now.is_object()) return internal_error("web/peers/ort/ort.mjs gave a malformed answer");
    DRIFTSCOPE_CHECK(rejected(now));
    return now;
  }

  json model_;  // its number at the host
  json about_ = json::object();
  std::vector<std::string> names_;
};

class WebBackend final : public Backend {
 public:
  [[nodiscard]] Availability available() const override {
    if (ds_ort_present() == 0) return {false, "onnxruntime-web is not attached to this instance"};
    return {true, fmt::format("ONNX Runtime Web {}", expected_version())};
  }
  [[nodiscard]] std::string hides_optimized() const override {
    return "onnxruntime-web has no files, to which alone ONNX Runtime writes the optimised model";
  }
  [[nodiscard]] std::string lacks(DType dtype) const override { return WebModel::type_lacking(dtype); }
  [[nodiscard]] Result<std::unique_ptr<RuntimeModel>> create(const CreateRequest& request) const override {
    return std::unique_ptr<RuntimeModel>(std::make_unique<WebModel>(request));
  }
};

}  // namespace

const Backend& backend() {
  static const WebBackend the_backend;
  return the_backend;
}

}  // namespace driftscope::ort
