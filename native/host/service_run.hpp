// A run through the session service, in the messages that a browser's worker uses: in this process, or in
// another one that speaks them. Clients: the hosts pc and node, the subjects of a bench.
#pragma once

#include "core/base/json.hpp"
#include "core/protocol/client.hpp"
#include "native/host/load_request.hpp"
#include "native/host/run_request.hpp"

namespace driftscope {

/// Steps of a run that others look for.
inline constexpr std::string_view running_step = "running";
inline constexpr std::string_view timing_step = "measuring its time";

/// How a service is to be asked.
struct ServiceRunOptions {
  /// Of a service in this process: it has the inputs already, and puts its trace there.
  std::optional<Trace>* trace = nullptr;
  /// The model's bytes go with the request to load it. Otherwise the service reads them elsewhere.
  bool send_model = false;
  /// Captured values come in pieces with the responses to poll. Otherwise the service keeps them for its
  /// trace, or gives them to the request's sink itself.
  bool stream_values = false;
  /// For the trace's run, beside what the service says itself.
  nlohmann::json environment = nlohmann::json::object();
};

/// Loads the model, runs it and takes the trace.
[[nodiscard]] Result<Trace> run_on_service(ServiceTransport& transport, const Target& target,
                                           const LoadRequest& load, const RunRequest& request,
                                           const ServiceRunOptions& options, const TargetProgress& progress);

/// What an engine does that is not ready yet and compiles so many programs for a GPU; 0: not known.
[[nodiscard]] std::string_view preparing_step(std::int64_t programs);

/// The inputs of a request as a safetensors file, the form in which they are sent.
[[nodiscard]] Result<Bytes> pack_inputs(const NamedInputs& inputs);

}  // namespace driftscope
