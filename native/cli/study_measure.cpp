// Time and memory of a session, on the PC in a process of its own.
#include <fmt/format.h>

#include <chrono>

#include "core/base/json.hpp"
#include "core/base/json_fields.hpp"
#include "core/base/text.hpp"
#include "core/dataset/npy.hpp"
#include "core/results/comparison_view.hpp"
#include "core/results/run_times.hpp"
#include "native/cli/study_work.hpp"
#include "native/host/targets.hpp"
#include "native/os/child_process.hpp"
#include "native/os/files.hpp"
#include "native/os/own_program.hpp"
#include "native/os/resource_limits.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t time_ms = 1000;
/// Of a process that measures; the same multiple of the timeout as for browsers that make no progress.
constexpr int most_timeouts = 10;

struct MeasureRequest {
  std::string model;
  std::string target;
  std::map<std::string, std::string> inputs;  ///< files, by name
};

Result<MeasureRequest> read_request(const fs::path& path) {
  DRIFTSCOPE_TRY(const Bytes bytes, read_file(path));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto document = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!document.is_object()) return bad_input(path.string() + ": expected an object");
  MeasureRequest request;
  const JsonPath root;
  JsonFields fields(document, root);
  fields.required("model", request.model);
  fields.required("target", request.target);
  fields.required("inputs", request.inputs);
  DRIFTSCOPE_CHECK(std::move(fields).status());
  return request;
}

Result<SessionTimes> measure_request(const fs::path& path, std::chrono::steady_clock::time_point begin) {
  DRIFTSCOPE_TRY(const MeasureRequest request, read_request(path));
  DRIFTSCOPE_TRY(const ModelFile model, load_model_file(request.model));
  DRIFTSCOPE_TRY(const Target target, read_target(request.target));
  NamedInputs inputs;
  for (const auto& [name, file] : request.inputs) {
    DRIFTSCOPE_TRY(const Bytes bytes, read_file(file));
    DRIFTSCOPE_TRY(Tensor tensor, read_npy(bytes));
    inputs.push_back({name, std::move(tensor)});
  }
  const double read_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  DRIFTSCOPE_TRY(SessionTimes times, measure_session(model, std::move(inputs), target, {}, {},
                                                     [](std::string_view, std::int64_t, std::int64_t) {}));
  times.load_s += read_s;  // reading the model is a part of it
  return times;
}

}  // namespace

Result<SessionTimes> measure_session(const ModelFile& model, NamedInputs inputs, const Target& target,
                                     const RunnerOptions& options, const std::function<bool()>& stopped,
                                     const TargetProgress& progress) {
  RunRequest request;
  request.model = &model;
  request.inputs = std::move(inputs);
  request.plan.capture = messages::Capture::outputs;
  request.plan.unwatched_ms = time_ms;
  request.stopped = stopped;
  const auto begin = std::chrono::steady_clock::now();
  std::optional<std::chrono::steady_clock::time_point> running;
  TargetRunner runner(options);
  DRIFTSCOPE_TRY(
      const Trace trace,
      runner.run(target, request, [&](std::string_view step, std::int64_t done, std::int64_t total) {
        if (!running && step == "running") running = std::chrono::steady_clock::now();
        progress(step, done, total);
      }));
  const auto loaded = running.value_or(std::chrono::steady_clock::now());
  const RunTime time = run_time(trace);
  if (time.kind != TimeKind::unwatched)
    return unsupported(fmt::format("its time could not be measured: {}", time.error));
  SessionTimes times;
  times.median_s = time.ns * 1e-9;
  times.first_s = time.first_ns * 1e-9;
  times.load_s = std::chrono::duration<double>(loaded - begin).count();
  const MemoryRecord peak = peak_memory(trace);
  if (!peak.kind.empty()) times.memory_bytes = peak.bytes, times.memory_kind = peak.kind;
  return times;
}

Result<SessionTimes> measure_in_process(const ModelFile& model, const NamedInputs& inputs,
                                        const Target& target, const RunnerOptions& options) {
  DRIFTSCOPE_TRY(const TempFolder folder, TempFolder::make());
  nlohmann::json request = {{"model", model.path.string()}, {"target", target.text()}};
  request["inputs"] = nlohmann::json::object();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const fs::path file = folder.path() / fmt::format("{}.npy", i);
    DRIFTSCOPE_TRY(const Bytes bytes, write_npy(inputs[i].tensor));
    DRIFTSCOPE_CHECK(
        write_temporary(file, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
    request["inputs"][inputs[i].name] = file.string();
  }
  const fs::path path = folder.path() / "request.json";
  DRIFTSCOPE_CHECK(write_temporary(path, json_text(request)));
  ProcessSpec spec;
  spec.arguments = own_program();
  const auto add = [&spec](std::initializer_list<std::string> arguments) {
    spec.arguments.insert(spec.arguments.end(), arguments);
  };
  if (asked_memory() > 0) add({"--max-memory", std::to_string(asked_memory())});
  add({"study-worker", path.string()});
  spec.errors_too = false;
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout) * most_timeouts;
  auto line = command_output(spec, static_cast<int>(limit.count()));
  if (!line.ok()) return in_context(std::move(line).error(), "its process");
  const auto result = nlohmann::ordered_json::parse(*line, nullptr, false);
  if (!result.is_object()) return internal_error("its process answered " + in_quotes(*line, 200));
  DRIFTSCOPE_TRY(const std::optional<std::string> failed, failure_in(result));
  if (failed) return unsupported(*failed);
  SessionTimes times;
  DRIFTSCOPE_CHECK(read_result(result, times));
  return times;
}

std::string measure_for_study(const fs::path& request) {
  const auto times = measure_request(request, std::chrono::steady_clock::now());
  return json_text(times.ok() ? encode_result(*times) : encode_failure(times.error()));
}

}  // namespace driftscope
