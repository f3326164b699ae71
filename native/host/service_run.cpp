#include "native/host/service_run.hpp"

#include "core/base/json.hpp"
#include "core/protocol/service.hpp"
#include "core/protocol/value_stream.hpp"
#include "core/trace/trace_file.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t max_value_bytes = std::int64_t{1} << 36;

messages::Start start_message(const Target& target, const RunRequest& request,
                              const ServiceRunOptions& options, bool stream) {
  messages::Start start;
  start.target = target.text();
  static_cast<messages::RunPlan&>(start) = request.plan;
  start.environment = options.environment;
  start.stream = stream;
  return start;
}

void report(const messages::PollResponse& now, const TargetProgress& progress) {
  const bool by_sample = now.samples > 0;
  if (now.preparing)
    progress(preparing_step(now.to_prepare), now.prepared, now.to_prepare);
  else
    progress(now.timing.value_or(false) ? timing_step : running_step, by_sample ? now.sample : now.done,
             by_sample ? now.samples : now.total);
}

/// Of a response to poll, with its bytes.
Status take_values(ValueReceiver& receiver, const messages::PollResponse& now,
                   std::span<const std::byte> bytes) {
  if (!now.values || now.values->empty()) return {};
  return receiver.take(pack_message(json_text(encode(messages::Values{.values = *now.values})), bytes));
}

}  // namespace

Result<Bytes> pack_inputs(const NamedInputs& inputs) {
  Trace carrier;
  carrier.tensors = inputs;
  return write_trace(carrier);
}

std::string_view preparing_step(std::int64_t programs) {
  return programs > 0 ? "compiling shaders" : "preparing";
}

Result<Trace> run_on_service(ServiceTransport& transport, const Target& target, const LoadRequest& load,
                             const RunRequest& request, const ServiceRunOptions& options,
                             const TargetProgress& progress) {
  ServiceClient client(transport);
  progress("loading the model", 0, 0);
  Bytes model;
  if (options.send_model) {
    model.resize(static_cast<std::size_t>(load.head.outside.value_or(0)));
    load.read(0, model);
  }
  DRIFTSCOPE_CHECK(client.send(load.head, model));
  model = {};
  const bool stream = options.stream_values && !request.plan.samples;
  std::vector<NamedTensor> collected;
  const TensorSink collect = [&](const std::string& name, const Tensor& tensor) {
    collected.push_back({name, tensor});
    return Status();
  };
  ValueReceiver receiver(request.sink ? request.sink : collect, max_value_bytes);
  Bytes inputs;
  if (options.trace == nullptr) {
    DRIFTSCOPE_TRY(inputs, pack_inputs(request.inputs));
  }
  progress(preparing_step(0), 0, 0);
  DRIFTSCOPE_CHECK(client.send(start_message(target, request, options, stream), inputs));
  while (true) {
    if (request.stopped && request.stopped()) return Error{ErrorKind::cancelled, "stopped"};
    DRIFTSCOPE_TRY(const auto polled, client.send(messages::Poll{.budget_ms = 100}));
    report(polled.head, progress);
    if (stream) DRIFTSCOPE_CHECK(take_values(receiver, polled.head, polled.payload));
    if (polled.head.finished) break;
  }
  DRIFTSCOPE_TRY(const auto finished, client.send(messages::Finish{}));
  Trace trace;
  if (options.trace != nullptr && *options.trace) {
    trace = *std::move(*options.trace);
  } else {
    DRIFTSCOPE_TRY(trace, read_trace(finished.payload));
  }
  if (stream) DRIFTSCOPE_CHECK(receiver.finish());
  if (!collected.empty()) trace.tensors = std::move(collected);
  trace.model_sha256 = request.model->sha256;
  return trace;
}

}  // namespace driftscope
