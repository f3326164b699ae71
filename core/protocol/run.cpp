#include "core/protocol/run.hpp"

#include <fmt/format.h>

#include <optional>

#include "core/base/json.hpp"
#include "core/graph/load_constants.hpp"
#include "core/inputs/found_inputs.hpp"
#include "core/platform/platform.hpp"
#include "core/protocol/sample_run.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/resolve_target.hpp"

namespace driftscope {

using nlohmann::json;

struct ServiceRun::State {
  std::string model_sha256;
  Target target;
  json environment;
  std::optional<ChosenInputs> chosen;
  std::shared_ptr<const Graph> graph;
  std::unique_ptr<Session> session;
  // With samples only the first one is recorded: for what ran and how much memory it
  // took; outputs and times then come from the sample run.
  std::optional<Recording> recording;
  std::optional<SampleRun> samples;
  Progress recording_progress{0, 1};  // not finished before it has begun
  bool stream = false;
  std::int64_t sample_count = 0;
  bool recorded = false;
  bool taken = false;
};

namespace {

// The option wasm belongs to the page, which loads the named build; this verifies it.
Status check_build(const Target& target, const json& environment) {
  const auto asked = target.options.find("wasm");
  if (asked == target.options.end()) return {};
  const json here = environment.value("wasm_variant", json());
  if (here == "driftscope-" + asked->second) return {};
  return internal_error(fmt::format("option wasm={}: the page loaded {}", asked->second, json_text(here)));
}

}  // namespace

Result<std::unique_ptr<Session>> prepare_session(const Target& target, const json& environment,
                                                 LoadedModel& model, std::shared_ptr<const Graph> graph,
                                                 const RecordOptions& record, bool defer_values) {
  DRIFTSCOPE_TRY(ResolvedTarget resolved, resolve_target(target));
  DRIFTSCOPE_CHECK(check_build(target, environment));
  const Engine* const engine = resolved.engine;
  if (const Availability here = engine->available(); !here.ok)
    return missing_error(fmt::format("engine {}: {}", target.engine, here.reason));
  EngineOptions options = std::move(resolved.options);
  options.fuse = record.capture != Capture::all;
  options.inner_values = record.capture != Capture::outputs && (!record.values || !record.values->empty());
  options.defer_values = defer_values && options.inner_values;
  // A model loaded for a single session is not needed afterwards.
  options.source = model.once ? std::exchange(model.source, nullptr) : model.source;
  if (engine->reads_source() && !options.source)
    return bad_input(
        fmt::format("request: engine {} reads the model itself; name the target in "
                    "\"load\" already",
                    target.engine));
  if (!engine->reads_deferred()) load_constants(*graph);
  return engine->prepare(std::move(graph), options);
}

std::string merge_run(const std::string& recorded, const json& environment, const Target& target) {
  json run = environment;
  run["host"] = target.host;
  const json own = parse_json(recorded);
  if (own.is_object()) run.update(own);
  return json_text(run);
}

Result<std::unique_ptr<ServiceRun>> ServiceRun::start(LoadedModel& model, StartRequest request) {
  auto state = std::make_unique<State>();
  NamedInputs first = request.inputs;
  if (request.samples > 0) {
    DRIFTSCOPE_TRY(first, slice_sample(request.inputs, 0));
  }
  DRIFTSCOPE_TRY(BoundInputs bound, bind_model(model, first));
  state->model_sha256 = model.sha256;
  state->target = std::move(request.target);
  state->environment = std::move(request.environment);
  state->chosen = std::move(request.chosen);
  state->graph = without_weights(*bound.graph);
  state->sample_count = request.samples;
  if (request.samples > 0) request.record.capture = Capture::outputs;
  DRIFTSCOPE_TRY(
      state->session,
      prepare_session(state->target, state->environment, model, std::move(bound.graph), request.record,
                      request.record.sink != nullptr && !request.record.compare_runs));
  if (request.samples > 0) {
    state->samples.emplace(state->graph, *state->session, std::move(request.inputs), request.samples);
  }
  state->stream = request.stream;
  ServiceRun::State& run_state = *state;
  std::unique_ptr<ServiceRun> run(new ServiceRun(std::move(state)));
  if (request.stream)
    request.record.sink = [&values = run->values_](const std::string& name, const Tensor& tensor) {
      values.add(name, tensor);
      return Status();
    };
  run_state.recording.emplace(run_state.graph, *run_state.session, std::move(bound.inputs), request.record);
  return run;
}

ServiceRun::ServiceRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
ServiceRun::~ServiceRun() = default;

std::size_t ServiceRun::nodes() const { return state_->graph->nodes.size(); }

std::int64_t ServiceRun::samples() const { return state_->sample_count; }

std::vector<std::string> ServiceRun::output_names() const {
  std::vector<std::string> names;
  for (const ValueId id : state_->graph->outputs) names.push_back(state_->graph->values[id].name);
  return names;
}

// With a stream step by step: the values of one step are sent before many more are made.
Result<Progress> ServiceRun::record(std::int64_t budget_ns) {
  State& state = *state_;
  if (!state.stream) return state.recording->poll(budget_ns);
  const std::int64_t begin = monotonic_ns();
  while (!state.recording_progress.finished() &&
         values_.bytes() < static_cast<std::int64_t>(max_value_bytes)) {
    DRIFTSCOPE_TRY(state.recording_progress, state.recording->poll(0));
    if (state.recording_progress.waiting || monotonic_ns() - begin >= budget_ns) break;
  }
  return state.recording_progress;
}

Result<ServiceProgress> ServiceRun::poll(std::int64_t budget_ns) {
  State& state = *state_;
  ServiceProgress progress;
  progress.samples = state.sample_count;
  if (!state.recorded) {
    DRIFTSCOPE_TRY(progress.nodes, record(budget_ns));
    state.recorded = progress.nodes.finished();
    return progress;
  }
  if (!state.samples) {
    progress.nodes = {1, 1};
    return progress;
  }
  DRIFTSCOPE_TRY(progress.nodes, state.samples->poll(budget_ns));
  progress.sample = state.samples->finished_samples();
  return progress;
}

Result<Trace> ServiceRun::take() {
  State& state = *state_;
  const bool finished =
      state.recorded && (!state.samples || state.samples->finished_samples() == state.sample_count);
  if (!finished || state.taken)
    return bad_input("request: \"finish\" before the run has finished; poll until it has");
  state.taken = true;
  DRIFTSCOPE_TRY(Trace trace, state.recording->take());
  trace.model_sha256 = state.model_sha256;
  trace.target = state.target.text();
  trace.run = merge_run(trace.run, state.environment, state.target);
  if (state.chosen) add_chosen_inputs(trace, *state.chosen);
  if (state.samples) {
    trace.tensors = state.samples->take_outputs();
    for (std::size_t i = 0; i < trace.nodes.size(); ++i) trace.nodes[i].time_ns = state.samples->times()[i];
    const MemorySample memory = sample_memory();
    const double t_ms = trace.memory.empty() ? 0.0 : trace.memory.back().t_ms;
    trace.memory.push_back({t_ms, memory.bytes, memory.kind});
  }
  return trace;
}

}  // namespace driftscope
