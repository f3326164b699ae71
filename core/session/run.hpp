// The door's run: from "start" to "finish", in slices. Client: door.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/engine/bind_inputs.hpp"
#include "core/engine/target.hpp"
#include "core/session/load.hpp"
#include "core/trace/record.hpp"

namespace driftscope {

/// What "start" asks for, checked.
struct StartRequest {
  Target target;
  RecordOptions record;
  std::int64_t samples = 0;  ///< 0: one input
  NamedInputs inputs;        ///< with a leading axis of samples when there are any
  nlohmann::json environment = nlohmann::json::object();
};

[[nodiscard]] Result<StartRequest> read_start_request(const nlohmann::json& request,
                                                  std::span<const std::byte> payload,
                                                  const Graph& graph);

struct DoorProgress {
  Progress nodes;  ///< of the current sample; of all repetitions
  std::int64_t sample = 0;
  std::int64_t samples = 0;
  [[nodiscard]] bool finished() const {
    return samples > 0 ? sample >= samples : nodes.finished();
  }
};

class DoorRun {
 public:
  [[nodiscard]] static Result<std::unique_ptr<DoorRun>> start(const LoadedModel& model,
                                                          StartRequest request);
  ~DoorRun();
  DoorRun(const DoorRun&) = delete;
  DoorRun& operator=(const DoorRun&) = delete;

  [[nodiscard]] std::size_t nodes() const;
  [[nodiscard]] std::vector<std::string> output_names() const;
  [[nodiscard]] Result<DoorProgress> poll(std::int64_t budget_ns);
  /// Once, after poll has said finished.
  [[nodiscard]] Result<Trace> take();

 private:
  struct State;
  explicit DoorRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace driftscope
