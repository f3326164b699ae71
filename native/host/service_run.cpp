#include "native/host/service_run.hpp"

#include <fmt/format.h>

#include "core/protocol/client.hpp"
#include "core/protocol/service.hpp"
#include "core/trace/trace_file.hpp"
#include "native/host/load_request.hpp"

namespace driftscope {
namespace {

class InThisProcess final : public ServiceTransport {
 public:
  explicit InThisProcess(Service& service) : service_(service) {}
  Result<Response> exchange(const std::string& json, std::span<const std::byte> payload) override {
    const Bytes bytes = service_.request(pack_message(json, payload));
    Message message = unpack_message(bytes);
    return Response{std::move(message.json), Bytes(message.payload.begin(), message.payload.end())};
  }

 private:
  Service& service_;
};

}  // namespace

Result<Bytes> pack_inputs(const NamedInputs& inputs) {
  Trace carrier;
  carrier.tensors = inputs;
  return write_trace(carrier);
}

std::string_view preparing_step(std::int64_t programs) {
  return programs > 0 ? "compiling shaders" : "preparing";
}

Result<Trace> run_locally(const Target& target, const RunRequest& request, const TargetProgress& progress) {
  Service service;
  progress("loading the model", 0, 0);
  const LoadRequest load = load_request(*request.model, target);
  service.load_from([&load](std::uint64_t offset, std::span<std::byte> bytes) { load.read(offset, bytes); });
  InThisProcess transport(service);
  ServiceClient client(transport);
  DRIFTSCOPE_CHECK(client.send(load.head));
  messages::Start start;
  start.target = target.text();
  start.repeat = request.repeat;
  start.settle_ms = request.settle.count();
  start.compare_runs = request.compare_runs;
  start.unwatched_ms = request.unwatched.count();
  start.capture =
      messages::named<messages::Capture>(capture_name(request.capture)).value_or(messages::Capture::all);
  start.environment = nlohmann::json::object({{"host", target.host}});
  if (request.values) start.values = *request.values;
  if (request.samples > 0) start.samples = request.samples;
  DRIFTSCOPE_TRY(const Bytes inputs, pack_inputs(request.inputs));
  progress(preparing_step(0), 0, 0);
  if (request.sink) service.record_to(request.sink);
  DRIFTSCOPE_CHECK(client.send(start, inputs));
  while (true) {
    if (request.stopped && request.stopped()) return Error{ErrorKind::cancelled, "stopped"};
    DRIFTSCOPE_TRY(const auto polled, client.send(messages::Poll{.budget_ms = 100}));
    const messages::PollResponse& now = polled.head;
    const bool by_sample = now.samples > 0;
    const bool timing = now.timing.value_or(false);
    if (now.preparing)
      progress(preparing_step(now.to_prepare), now.prepared, now.to_prepare);
    else
      progress(timing ? "measuring its time" : "running", by_sample ? now.sample : now.done,
               by_sample ? now.samples : now.total);
    if (now.finished) break;
  }
  DRIFTSCOPE_TRY(const auto finished, client.send(messages::Finish{}));
  DRIFTSCOPE_TRY(Trace trace, read_trace(finished.payload));
  trace.model_sha256 = request.model->sha256;
  return trace;
}

}  // namespace driftscope
