// One run of a model on a target, whichever host it is on. Clients: hosts, TargetRunner and its clients.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/bind_inputs.hpp"
#include "core/trace/record.hpp"
#include "generated/protocol/messages.hpp"
#include "native/browser/web_driver_options.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

/// Captures have the same names in the recorder and in messages.
[[nodiscard]] inline messages::Capture capture_message(Capture capture) {
  return messages::named<messages::Capture>(capture_name(capture)).value_or(messages::Capture::all);
}
[[nodiscard]] inline Capture capture_of_message(messages::Capture capture) {
  return capture_from(messages::name_of(capture)).value_or(Capture::outputs);
}

/// Whether the user wants to stop; asked several times a second.
using StopCheck = std::function<bool()>;

struct RunRequest {
  const ModelFile* model = nullptr;
  NamedInputs inputs;
  messages::RunPlan plan = {};
  /// Receives captured values as they are made (from a browser on another thread, while run waits), and
  /// the trace keeps the outputs.
  TensorSink sink = {};
  /// Further runs of samples of this model follow: a host may keep it prepared until drop_prepared().
  /// Outputs alone are captured.
  bool keeps_prepared = false;
  /// True ends it with a cancelled error.
  StopCheck stopped = {};
};

struct RunnerOptions {
  std::chrono::seconds timeout{60};  ///< without a sign of life from a browser
  /// Without progress from a browser whose page lives; nothing: a multiple of `timeout`.
  std::optional<std::chrono::seconds> stall_timeout = {};
  std::filesystem::path site;  ///< folder of the page; empty: found beside the program
  WebDriverOptions web_driver = {};
};

/// Called with the current step: "starting the browser", "compiling shaders", "running", and what is done of
/// it: programs, samples or nodes.
using TargetProgress = std::function<void(std::string_view step, std::int64_t done, std::int64_t total)>;

}  // namespace driftscope
