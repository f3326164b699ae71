// The service's run: from "start" to "finish", in slices. Client: service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/inputs/chosen_inputs.hpp"
#include "core/protocol/load.hpp"
#include "core/protocol/value_stream.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/engine.hpp"
#include "core/runtime/target.hpp"
#include "core/trace/record.hpp"

namespace driftscope {

/// The parameters of "start", checked.
struct StartRequest {
  Target target;
  RecordOptions record;
  bool traced = true;             ///< false ("none", in "prepare" alone): no value and no time is recorded
  bool stream = false;            ///< captured values are sent with the responses to "poll"
  std::int64_t samples = 0;       ///< 0: one input
  std::int64_t unwatched_ns = 0;  ///< how long the model also runs unwatched; 0: not at all
  std::int64_t memory_runs = 0;   ///< over how many more runs its memory is watched; 0: over none
  NamedInputs inputs;             ///< with a leading axis of samples when there are any
  std::optional<ChosenInputs> chosen = {};  ///< of inputs that a seed made
  nlohmann::json environment = nlohmann::json::object();
};

/// `given`: the inputs, where they are in memory already; otherwise the payload holds them.
[[nodiscard]] Result<StartRequest> read_start_request(const messages::Start& request,
                                                      std::span<const std::byte> payload, const Graph& graph,
                                                      std::optional<NamedInputs> given = {});

/// The session of a target's engine, or why there is none. `defer_values` as of EngineOptions.
[[nodiscard]] Result<std::unique_ptr<Session>> prepare_session(
    const Target& target, const nlohmann::json& environment, LoadedModel& model,
    std::shared_ptr<const Graph> graph, const RecordOptions& record, bool defer_values);

/// What ran, as JSON text: the host's fields, then the engine's, which take precedence.
[[nodiscard]] std::string merge_run(const std::string& recorded, const nlohmann::json& environment,
                                    const Target& target);

struct ServiceProgress {
  Progress nodes;  ///< of the current sample; of all repetitions
  std::int64_t sample = 0;
  std::int64_t samples = 0;
  [[nodiscard]] bool finished() const { return samples > 0 ? sample >= samples : nodes.finished(); }
};

class ServiceRun {
 public:
  [[nodiscard]] static Result<std::unique_ptr<ServiceRun>> start(LoadedModel& model, StartRequest request);
  ~ServiceRun();
  ServiceRun(const ServiceRun&) = delete;
  ServiceRun& operator=(const ServiceRun&) = delete;

  [[nodiscard]] std::size_t nodes() const;
  [[nodiscard]] std::vector<std::string> output_names() const;
  [[nodiscard]] std::int64_t samples() const;  ///< 0: one input
  [[nodiscard]] Result<ServiceProgress> poll(std::int64_t budget_ns);
  /// With "stream": the next values, in pieces, to be taken after each poll. While some wait, poll does
  /// nothing else and does not return finished.
  [[nodiscard]] ValueStream::Pieces take_values() { return values_.take(max_value_bytes); }
  [[nodiscard]] bool holds_values() const { return values_.bytes() > 0; }
  /// Once, after poll has said finished.
  [[nodiscard]] Result<Trace> take();

 private:
  struct State;
  explicit ServiceRun(std::unique_ptr<State> state);
  [[nodiscard]] Result<Progress> record(std::int64_t budget_ns);

  /// Per piece: a few copies of this size are in transit, with the values that wait behind them.
  static constexpr std::size_t max_value_bytes = std::size_t{2} << 20;

  ValueStream values_;
  std::unique_ptr<State> state_;
};

}  // namespace driftscope
