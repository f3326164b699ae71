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
#include "native/host/model_file.hpp"

namespace driftscope {

struct RunRequest {
  const ModelFile* model = nullptr;
  NamedInputs inputs;
  std::int64_t samples = 0;  ///< > 0: inputs have a leading axis of samples, run one by one
  int repeat = 1;
  /// Above zero, instead of repeat: runs go on until their times have settled, or for so long.
  std::chrono::milliseconds settle{0};
  bool compare_runs = false;  ///< as for RecordOptions; with a repeat of at least 2
  /// Above zero: the whole model also runs unwatched for about so long (core/results/run_times.hpp).
  std::chrono::milliseconds unwatched{0};
  Capture capture = Capture::all;
  std::optional<std::vector<std::string>> values = {};  ///< as for RecordOptions
  /// Receives captured values as they are made (from a browser on another thread, while run waits), and
  /// the trace keeps the outputs.
  TensorSink sink = {};
  /// Called repeatedly while it runs; true ends it with a cancelled error.
  std::function<bool()> stopped = {};
};

struct RunnerOptions {
  std::chrono::seconds timeout{60};  ///< without a sign of life from a browser
  /// Without progress from a browser whose page lives; nothing: a multiple of `timeout`.
  std::optional<std::chrono::seconds> stall_timeout = {};
  std::filesystem::path site;  ///< folder of the page; empty: found beside the program
};

/// Called with the current step: "starting the browser", "compiling shaders", "running", and what is done of
/// it: programs, samples or nodes.
using TargetProgress = std::function<void(std::string_view step, std::int64_t done, std::int64_t total)>;

}  // namespace driftscope
