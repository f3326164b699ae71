#include "core/trace/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>
#include <map>
#include <set>

#include "core/base/json.hpp"
#include "core/graph/constant_nodes.hpp"
#include "core/platform/platform.hpp"
#include "core/trace/repeat_check.hpp"
#include "core/trace/subgraph_recording.hpp"

namespace driftscope {
namespace {

// Reading a process's memory costs about a millisecond; no more often than this.
constexpr std::int64_t memory_interval_ns = 50'000'000;

// Storage for this many times per node, and memory samples, is reserved before the run: a small long-lived
// allocation must not land in the gap left by a large value, or the next one no longer fits there.
constexpr int max_reserved = 256;

// Seconds since 1970 as "2026-11-20T17:03:05Z": days to date by Howard Hinnant's civil_from_days.
std::string utc_text(double seconds) {
  const auto total = static_cast<std::int64_t>(std::floor(seconds));
  std::int64_t days = total / 86400;
  const std::int64_t in_day = total - days * 86400;
  days += 719468;
  const std::int64_t era = days / 146097;
  const std::int64_t day_of_era = days - era * 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const std::int64_t day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  const std::int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", year, month, day, in_day / 3600,
                     in_day / 60 % 60, in_day % 60);
}

nlohmann::json describe_session(const Session& session, double start_seconds) {
  const RanWith ran = session.ran_with();
  nlohmann::json run;
  run["engine"] = ran.engine;
  run["instruction_set"] = ran.instruction_set;
  run["device"] = ran.device;
  run["threads_asked"] = ran.threads_asked;
  run["threads_real"] = ran.threads_real;
  run["platform"] = platform_name();
  run["start_time"] = utc_text(start_seconds);
  run["options"] = ran.options;
  return run;
}

}  // namespace

std::string_view capture_name(Capture capture) {
  switch (capture) {
    case Capture::fused: return "fused";
    case Capture::outputs: return "outputs";
    default: return "all";
  }
}

std::optional<Capture> capture_from(std::string_view name) {
  for (const Capture capture : {Capture::all, Capture::fused, Capture::outputs})
    if (name == capture_name(capture)) return capture;
  return std::nullopt;
}

std::string describe_run(const Session& session, double start_seconds) {
  return json_text(describe_session(session, start_seconds));
}

struct Recording::State final : public TraceSink {
  std::shared_ptr<const Graph> graph;
  Session& session;
  std::vector<Tensor> inputs;
  RecordOptions options;
  std::vector<bool> wanted;
  Trace trace;
  int repetition = 0;  // finished ones
  bool running = false;
  bool done = false;
  std::vector<std::int64_t> run_ns;  // of the whole model, run by run
  std::int64_t nodes_ns = 0;         // of the run under way, as the engine says
  std::int64_t start_ns = 0;         // when it began
  std::int64_t begin_ns = 0;
  std::int64_t last_memory_ns = 0;
  std::optional<RunComparer> comparer;
  std::optional<SubgraphRecording> inside;  // of control flow; none where nothing of it is wanted
  std::optional<std::set<std::string>> chosen;
  double begin_seconds = 0.0;

  State(std::shared_ptr<const Graph> its_graph, Session& its_session, std::vector<Tensor> its_inputs,
        RecordOptions its_options)
      : graph(std::move(its_graph)),
        session(its_session),
        inputs(std::move(its_inputs)),
        options(std::move(its_options)),
        wanted(graph->values.size(), options.capture != Capture::outputs) {
    if (options.values) choose_values(*options.values);
    if (options.capture != Capture::outputs && std::ranges::any_of(graph->nodes, has_layers_inside))
      inside.emplace(SubgraphRecording::Receiver{
          [this](const std::string& name) { return !chosen || chosen->contains(in_any_iteration(name)); },
          [this](const std::string& name, const Tensor& tensor) { return keep(name, tensor, false); }});
    // A trace without the inputs of the graph could not be verified.
    for (const ValueId id : graph->inputs) wanted[id] = true;
    for (const ValueId id : graph->outputs) wanted[id] = true;
    if (options.compare_runs) comparer.emplace(*graph);
    const std::vector<bool> constant = constant_nodes(*graph);
    for (NodeId id = 0; id < graph->nodes.size(); ++id) {
      const Node& node = graph->nodes[id];
      NodeRecord record{node.name, node.op_type, {}, {}, constant[id]};
      for (const ValueId output : node.outputs)
        if (output != no_value) record.outputs.push_back(graph->values[output].name);
      record.time_ns.reserve(
          static_cast<std::size_t>(std::clamp(settles() ? max_reserved : options.repeat, 1, max_reserved)));
      trace.nodes.push_back(std::move(record));
    }
    trace.memory.reserve(max_reserved);
    // Every time of every node is kept: a hundred thousand nodes do not run two hundred times.
    constexpr std::int64_t max_times = 400'000;
    const auto nodes = std::max<std::int64_t>(static_cast<std::int64_t>(graph->nodes.size()), 1);
    options.settling.max_runs =
        std::max<std::int64_t>(2, std::min(options.settling.max_runs, max_times / nodes));
  }

  void choose_values(const std::vector<std::string>& names) {
    chosen.emplace(names.begin(), names.end());
    for (ValueId id = 0; id < wanted.size(); ++id)
      wanted[id] = wanted[id] && chosen->contains(graph->values[id].name);
  }

  [[nodiscard]] bool wants(ValueId id) const override { return (repetition == 0 || comparer) && wanted[id]; }

  Status value(ValueId id, const Tensor& tensor) override {
    if (comparer) comparer->value(id, tensor);
    if (repetition > 0) return {};
    const bool output = std::find(graph->outputs.begin(), graph->outputs.end(), id) != graph->outputs.end();
    return keep(graph->values[id].name, tensor, output);
  }

  Status keep(const std::string& name, const Tensor& tensor, bool output) {
    if (options.sink) {
      DRIFTSCOPE_CHECK(options.sink(name, tensor));
      if (!output) return {};
    }
    trace.tensors.push_back({name, tensor});
    return {};
  }

  void node_done(NodeId node, std::int64_t time_ns) override {
    trace.nodes[node].time_ns.push_back(time_ns);
    nodes_ns += time_ns;
  }

  void unattributed_time(std::int64_t time_ns) override { nodes_ns += time_ns; }

  [[nodiscard]] bool settles() const { return options.settling.budget_ns > 0; }

  [[nodiscard]] bool wants_times() const override {
    return options.times && options.capture != Capture::outputs;
  }

  void sample_memory_now() {
    last_memory_ns = monotonic_ns();
    const MemorySample sample = sample_memory();
    trace.memory.push_back(
        {static_cast<double>(last_memory_ns - begin_ns) * 1e-6, sample.bytes, sample.kind});
    if (const auto more = session.memory())
      trace.memory.push_back({trace.memory.back().t_ms, more->bytes, more->kind});
  }

  [[nodiscard]] SubgraphWatch* watch() { return inside ? &*inside : nullptr; }

  Status start() {
    if (repetition == 0) {
      begin_ns = monotonic_ns();
      begin_seconds = wall_clock_seconds();
      sample_memory_now();
    }
    if (comparer) comparer->begin_run();
    if (inside) inside->begin_run();
    nodes_ns = 0;
    start_ns = monotonic_ns();
    const SubgraphWatchScope scope(watch());
    DRIFTSCOPE_CHECK(session.start(inputs, *this));
    running = true;
    return {};
  }

  Status end_of_run() {
    DRIFTSCOPE_TRY(const auto outputs, session.finish());
    (void)outputs;
    running = false;
    ++repetition;
    if (comparer) comparer->end_run();
    // Without the times of nodes: until now, the event loop's part of it included.
    run_ns.push_back(nodes_ns > 0 ? nodes_ns : monotonic_ns() - start_ns);
    done = settles() ? has_settled(run_ns, options.settling) : repetition >= options.repeat;
    if (done) sample_memory_now();
    return {};
  }

  // Nodes inside control flow come before the node that they are inside.
  void add_inside() {
    std::map<std::string_view, std::vector<NodeRecord>> by_owner;  // the outermost
    for (const Node& node : graph->nodes)
      if (has_layers_inside(node)) by_owner[node.name];
    const auto is_owner = [&](std::string_view name) { return by_owner.contains(name); };
    for (NodeRecord& record : inside->take_nodes())
      if (const auto owner = by_owner.find(outermost_owner(record.name, is_owner)); owner != by_owner.end())
        owner->second.push_back(std::move(record));
    std::vector<NodeRecord> all;
    for (NodeRecord& node : trace.nodes) {
      if (const auto found = by_owner.find(node.name); found != by_owner.end())
        std::ranges::move(found->second, std::back_inserter(all));
      all.push_back(std::move(node));
    }
    trace.nodes = std::move(all);
    trace.control_flow = inside->take_control_flow();
  }

  void describe() {
    nlohmann::json run = describe_session(session, begin_seconds);
    run["repeat"] = repetition;
    if (options.times) run["times"] = {{"watched_ns", run_ns}};  // core/results/run_times.hpp
    run["capture"] = capture_name(options.capture);
    if (inside) add_inside();
    if (!graph->notes.empty()) run["notes"] = note_lines(graph->notes);
    if (const auto errors = session.ran_with().device_errors; !errors.empty()) run["device_errors"] = errors;
    if (comparer) {
      run["repeat_check"] = repeat_check_json(comparer->result());
      trace.later = comparer->take_values();
    }
    trace.run = json_text(run);
  }
};

Recording::Recording(std::shared_ptr<const Graph> graph, Session& session, std::vector<Tensor> inputs,
                     RecordOptions options)
    : state_(std::make_unique<State>(std::move(graph), session, std::move(inputs), std::move(options))) {}
Recording::~Recording() = default;

Result<Progress> Recording::poll(std::int64_t budget_ns) {
  State& state = *state_;
  if (state.options.repeat < 1)
    return bad_input(fmt::format("repeat: expected at least 1, got {}", state.options.repeat));
  // A graph without nodes still counts its runs.
  const auto nodes = std::max<std::int64_t>(static_cast<std::int64_t>(state.graph->nodes.size()), 1);
  Progress progress{0, 0};
  if (!state.done) {
    if (!state.running) DRIFTSCOPE_CHECK(state.start());
    {
      const SubgraphWatchScope scope(state.watch());
      DRIFTSCOPE_TRY(progress, state.session.poll(budget_ns));
    }
    if (state.inside) DRIFTSCOPE_CHECK(state.inside->status());
    if (monotonic_ns() - state.last_memory_ns >= memory_interval_ns) state.sample_memory_now();
    if (progress.finished()) {
      DRIFTSCOPE_CHECK(state.end_of_run());
      progress.done = 0;
    }
  }
  const std::int64_t runs = state.done        ? state.repetition
                            : state.settles() ? state.repetition + 1
                                              : state.options.repeat;
  progress.done += state.repetition * nodes;
  progress.total = runs * nodes;
  return progress;
}

Result<Trace> Recording::take() {
  State& state = *state_;
  if (!state.done) return internal_error("the recording was taken before it was finished");
  state.describe();
  return std::move(state.trace);
}

Result<Trace> record(std::shared_ptr<const Graph> graph, Session& session, std::vector<Tensor> inputs,
                     RecordOptions options) {
  Recording recording(std::move(graph), session, std::move(inputs), std::move(options));
  while (true) {
    DRIFTSCOPE_TRY(const Progress progress, recording.poll(memory_interval_ns));
    if (progress.finished()) return recording.take();
  }
}

}  // namespace driftscope
