#include "core/protocol/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/base/json.hpp"
#include "core/model/alive_tensors.hpp"
#include "core/platform/heap.hpp"
#include "core/platform/platform.hpp"
#include "core/trace/trace_file.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

// Reading a process's memory costs about a millisecond; no more often than this.
constexpr std::int64_t memory_interval_ns = 200'000'000;
constexpr std::size_t max_readings = 100'000;

/// The step of the clock: the median of several, since browsers blur it.
double clock_step_ns() {
  std::array<double, 9> steps{};
  for (double& step : steps) {
    const std::int64_t begin = monotonic_ns();
    std::int64_t now = begin;
    while (now == begin) now = monotonic_ns();
    step = static_cast<double>(now - begin);
  }
  std::ranges::sort(steps);
  return steps[steps.size() / 2];
}

}  // namespace

struct Measurement::State {
  /// Captures nothing, and adds up the times that the engine reports.
  class OwnTimes final : public TraceSink {
   public:
    [[nodiscard]] bool wants(ValueId /*value*/) const override { return false; }
    Status value(ValueId /*value*/, const Tensor& /*tensor*/) override { return {}; }
    void node_done(NodeId /*node*/, std::int64_t time_ns) override { sum_ns += time_ns; }
    void unattributed_time(std::int64_t time_ns) override { sum_ns += time_ns; }

    std::int64_t sum_ns = 0;
  };

  Target target;
  json environment;
  std::shared_ptr<const Graph> graph;
  std::vector<Tensor> inputs;
  std::optional<RecordOptions> record;  // nothing: the run is not traced
  RunRecorder* recorder = nullptr;
  std::unique_ptr<Session> session;
  std::optional<Recording> recording;  // of the run under way
  OwnTimes own;

  // The slice under way.
  bool slicing = false;
  MeasureRequest request;
  std::int64_t slice_begin = 0;
  std::int64_t reading_begin = 0;
  std::int64_t inner_done = 0;
  std::int64_t runs = 0;
  bool running = false;
  // Set for an engine that needs the host's event loop: the time between its polls is not its own. It
  // reports itself how long a run took.
  bool waited = false;
  bool preparing = false;
  std::int64_t preparing_ns = 0;
  std::vector<double> times_ns;

  std::int64_t memory_read_at = 0;
  MemorySample memory;

  Status begin_run() {
    running = true;
    if (!record) return session->start(inputs, own);
    if (recorder != nullptr) DRIFTSCOPE_CHECK(recorder->begin(*graph));
    recording.emplace(graph, *session, inputs, *record);
    return {};
  }

  [[nodiscard]] Result<Progress> poll_run(std::int64_t budget_ns) {
    if (preparing) {  // until now: the run begins with this poll at the earliest
      const std::int64_t now = monotonic_ns();
      preparing_ns += now - reading_begin;
      slice_begin += now - reading_begin;
      reading_begin = now;
    }
    DRIFTSCOPE_TRY(const Progress progress,
                   recording ? recording->poll(budget_ns) : session->poll(budget_ns));
    preparing = progress.preparing;
    waited = waited || (progress.waiting && !recording);
    return progress;
  }

  /// A traced run ends when its trace is written.
  Status end_run() {
    running = false;
    if (!recording) {
      DRIFTSCOPE_TRY(const auto outputs, session->finish());
      return {};
    }
    DRIFTSCOPE_TRY(const Trace trace, recording->take());
    recording.reset();
    if (recorder != nullptr) return recorder->finish(trace);
    DRIFTSCOPE_TRY(const auto file, write_trace(trace));
    return {};
  }

  void begin_slice(const MeasureRequest& wanted) {
    slicing = true;
    request = wanted;
    inner_done = 0;
    runs = 0;
    preparing_ns = 0;
    times_ns.clear();
    slice_begin = monotonic_ns();
  }

  Status begin_reading() {
    waited = false;
    own.sum_ns = 0;
    if (recorder != nullptr) DRIFTSCOPE_CHECK(recorder->discard());
    reading_begin = monotonic_ns();
    return {};
  }

  /// Whether the slice has ended with the reading at `now`.
  bool add_reading(std::int64_t now) {
    const std::int64_t time = waited ? own.sum_ns : now - reading_begin;
    times_ns.push_back(static_cast<double>(time) / static_cast<double>(request.inner));
    inner_done = 0;
    const bool enough_runs = request.max_runs > 0 && runs + request.inner > request.max_runs;
    return now - slice_begin >= request.slice_ns || enough_runs || times_ns.size() >= max_readings;
  }

  messages::MeasureResponse end_slice() {
    slicing = false;
    const std::int64_t now = monotonic_ns();
    if (memory.kind.empty() || now - memory_read_at >= memory_interval_ns) {
      memory = sample_memory();
      memory_read_at = now;
    }
    const AliveTensors alive = alive_tensors();
    // The list of times differs in length between slices: it is not part of the engine's heap.
    const auto list = static_cast<std::int64_t>(times_ns.capacity() * sizeof(double));
    const std::int64_t heap = std::max<std::int64_t>(heap_in_use() - list, 0);
    const auto more = session->memory();
    messages::MeasureResponse response;
    response.finished = true;
    response.times_ns = times_ns;
    response.preparing_ns = preparing_ns;
    response.alive_tensors = alive.count;
    response.alive_bytes = alive.bytes;
    response.heap_bytes = heap;
    response.memory_bytes = memory.bytes;
    response.memory_kind = memory.kind;
    response.engine_memory_bytes = more ? more->bytes : 0;
    if (more) response.engine_memory_kind = more->kind;
    return response;
  }
};

Result<std::unique_ptr<Measurement>> Measurement::prepare(LoadedModel& model, StartRequest start,
                                                          RunRecorder* recorder) {
  auto state = std::make_unique<State>();
  DRIFTSCOPE_TRY(BoundInputs bound, bind_model(model, start.inputs));
  state->target = std::move(start.target);
  state->environment = std::move(start.environment);
  state->graph = without_weights(*bound.graph);
  state->inputs = std::move(bound.inputs);
  DRIFTSCOPE_TRY(state->session,
                 prepare_session(state->target, state->environment, model, std::move(bound.graph),
                                 start.record, start.traced && recorder != nullptr));
  if (start.traced) {
    state->record = std::move(start.record);
    state->record->times = false;  // the time of the run is measured
    state->recorder = recorder;
    if (recorder != nullptr)
      state->record->sink = [recorder](const std::string& name, const Tensor& tensor) {
        return recorder->add(name, tensor);
      };
  }
  return std::unique_ptr<Measurement>(new Measurement(std::move(state)));
}

Measurement::Measurement(std::unique_ptr<State> state) : state_(std::move(state)) {}
Measurement::~Measurement() = default;

messages::Prepared Measurement::describe() const {
  const std::string ran =
      merge_run(describe_run(*state_->session, wall_clock_seconds()), state_->environment, state_->target);
  return {.nodes = static_cast<std::int64_t>(state_->graph->nodes.size()),
          .clock_ns = clock_step_ns(),
          .ran = parse_json(ran)};
}

Result<std::optional<NodePrograms>> Measurement::programs(std::int64_t node) {
  const auto count = static_cast<std::int64_t>(state_->graph->nodes.size());
  if (node < 0 || node >= count)
    return bad_input(fmt::format("request \"programs\": there is no node {}; the graph has {}", node, count));
  auto* const source = dynamic_cast<ProgramSource*>(state_->session.get());
  if (source == nullptr) return unsupported(fmt::format("{} has no shaders to print", state_->target.text()));
  return source->programs(*state_->graph, static_cast<NodeId>(node));
}

Result<messages::MeasureResponse> Measurement::measure(const MeasureRequest& request,
                                                       std::int64_t budget_ns) {
  State& state = *state_;
  const std::int64_t call_begin = monotonic_ns();
  if (!state.slicing) state.begin_slice(request);
  while (true) {
    if (!state.running) {
      if (state.inner_done == 0) DRIFTSCOPE_CHECK(state.begin_reading());
      DRIFTSCOPE_CHECK(state.begin_run());
    }
    DRIFTSCOPE_TRY(const Progress progress, state.poll_run(budget_ns));
    if (progress.finished()) {
      DRIFTSCOPE_CHECK(state.end_run());
      ++state.runs;
      if (++state.inner_done == state.request.inner && state.add_reading(monotonic_ns()))
        return state.end_slice();
      if (state.inner_done > 0) continue;
    }
    messages::MeasureResponse not_yet;
    if (progress.waiting) not_yet.waiting = true;
    not_yet.preparing = progress.preparing;
    not_yet.prepared = progress.prepared;
    not_yet.to_prepare = progress.to_prepare;
    if (progress.waiting || monotonic_ns() - call_begin >= budget_ns) return not_yet;
  }
}

}  // namespace driftscope
