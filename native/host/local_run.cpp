#include "native/host/local_run.hpp"

#include <fmt/format.h>

#include "core/base/json.hpp"
#include "core/protocol/error_json.hpp"
#include "core/protocol/service.hpp"
#include "core/trace/trace_file.hpp"
#include "native/host/load_request.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

struct Answer {
  json object;
  Bytes payload;
};

/// One request through the service; an {"error"} becomes an Error.
Result<Answer> ask(Service& service, const json& request, std::span<const std::byte> payload = {}) {
  const Bytes bytes = service.request(pack_message(json_text(request), payload));
  const Message message = unpack_message(bytes);
  Answer answer{parse_json(message.json), Bytes(message.payload.begin(), message.payload.end())};
  if (!answer.object.is_object()) return internal_error("the session service gave a malformed answer");
  if (const auto error = answer.object.find("error"); error != answer.object.end())
    return error_from_json(*error);
  return answer;
}

}  // namespace

Result<Bytes> pack_inputs(const NamedInputs& inputs) {
  Trace carrier;
  carrier.tensors = inputs;
  return write_trace(carrier);
}

Result<Trace> run_locally(const Target& target, const RunRequest& request, const TargetProgress& progress) {
  Service service;
  progress("loading the model", 0, 0);
  const LoadRequest load = load_request(*request.model, target);
  service.load_from([&load](std::uint64_t offset, std::span<std::byte> bytes) { load.read(offset, bytes); });
  DRIFTSCOPE_TRY(const Answer loaded, ask(service, load.head));
  json start = {{"do", "start"},
                {"target", target.text()},
                {"repeat", request.repeat},
                {"capture", capture_name(request.capture)},
                {"environment", {{"host", target.host}}}};
  if (request.values) start["values"] = *request.values;
  if (request.samples > 0) start["samples"] = request.samples;
  DRIFTSCOPE_TRY(const Bytes inputs, pack_inputs(request.inputs));
  progress("preparing", 0, 0);
  if (request.sink) service.record_to(request.sink);
  DRIFTSCOPE_TRY(const Answer started, ask(service, start, inputs));
  while (true) {
    if (request.stopped && request.stopped()) return Error{ErrorKind::cancelled, "stopped"};
    DRIFTSCOPE_TRY(const Answer polled, ask(service, {{"do", "poll"}, {"budget_ms", 100}}));
    const auto number = [&](const char* key) { return polled.object.value(key, std::int64_t{0}); };
    const bool by_sample = number("samples") > 0;
    progress("running", by_sample ? number("sample") : number("done"),
             by_sample ? number("samples") : number("total"));
    if (polled.object.value("finished", false)) break;
  }
  DRIFTSCOPE_TRY(const Answer finished, ask(service, {{"do", "finish"}}));
  DRIFTSCOPE_TRY(Trace trace, read_trace(finished.payload));
  trace.model_sha256 = request.model->sha256;
  return trace;
}

}  // namespace driftscope
