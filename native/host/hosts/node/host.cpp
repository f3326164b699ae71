// Our engines as WebAssembly under Node, without a browser: the service of web/worker/node_service.mjs, in
// the messages that a browser's worker uses. What needs a GPU or a page is not there.
#include <fmt/format.h>

#include <sstream>

#include "native/browser/page_life.hpp"
#include "native/host/host.hpp"
#include "native/host/hosts/node/node_service.hpp"
#include "native/host/in_process_session.hpp"
#include "native/host/service_run.hpp"
#include "native/os/child_process.hpp"
#include "native/os/node_program.hpp"
#include "native/os/own_program.hpp"
#include "native/platform/site.hpp"

namespace driftscope::hosts::node {
namespace {

constexpr std::string_view what = "the host 'node'";

Result<std::string> version_of_node() {
  DRIFTSCOPE_TRY(const auto program, find_node(what));
  ProcessSpec spec;
  spec.arguments = {program.string(), "--version"};
  constexpr int timeout_ms = 20000;
  DRIFTSCOPE_TRY(const std::string text, command_output(spec, timeout_ms));
  std::string line;
  std::getline(std::istringstream(text), line);
  return "Node.js " + line;
}

/// Samples the memory of a run whenever it reports progress, as that of browsers is sampled: not while
/// nothing but the run may be measured.
class MemoryWatch {
 public:
  MemoryWatch(const NodeProcess& process, const TargetProgress& progress)
      : process_(process), progress_(progress) {}

  void operator()(std::string_view step, std::int64_t done, std::int64_t total) {
    if (step == running_step && !began_) began_ = Clock::now();
    const bool due = samples_.empty() || Clock::now() - samples_.back().first >= interval;
    if (due && step != timing_step) sample();
    progress_(step, done, total);
  }
  void sample() { samples_.emplace_back(Clock::now(), process_.memory()); }
  void add_to(Trace& trace) const {
    for (const auto& [time, bytes] : samples_)
      trace.memory.push_back({std::chrono::duration<double, std::milli>(time - began_.value_or(time)).count(),
                              bytes, "process_tree_pss"});
  }

 private:
  static constexpr std::chrono::milliseconds interval{200};

  const NodeProcess& process_;
  const TargetProgress& progress_;
  std::optional<Clock::time_point> began_;
  std::vector<std::pair<Clock::time_point, std::int64_t>> samples_;
};

class Session final : public HostSession {
 public:
  Session(Target target, NodeServiceSpec spec, std::string version)
      : target_(std::move(target)), spec_(std::move(spec)), version_(std::move(version)) {}

  // One process for all runs; after one that failed there is another.
  Result<Trace> run(const RunRequest& request, const TargetProgress& progress) override {
    if (!service_ || !service_->process().alive()) {
      progress("starting Node", 0, 0);
      service_.reset();
      DRIFTSCOPE_TRY(service_, NodeService::start(spec_));
    }
    const LoadRequest load = load_request(*request.model, target_);
    const ServiceRunOptions options{
        .send_model = true,
        .stream_values = true,
        .environment = {{"host", target_.host}, {"browser", version_}, {"wasm_variant", spec_.variant}}};
    MemoryWatch memory(service_->process(), progress);
    auto trace = run_on_service(*service_, target_, load, request, options, std::ref(memory));
    if (!trace.ok()) {
      service_.reset();
      return trace;
    }
    memory.sample();  // even the shortest run has one
    memory.add_to(*trace);
    return trace;
  }

 private:
  Target target_;
  NodeServiceSpec spec_;
  std::string version_;
  std::unique_ptr<NodeService> service_;
};

class Node final : public Host {
 public:
  const HostFacts& facts() const override { return facts_; }
  Result<std::string> version() const override { return version_of_node(); }

  bool can_run(const EngineInfo& engine) const override {
    if (engine.kind == EngineKind::reference) return default_host() == "node";
    return engine.in_browsers && engine.kind != EngineKind::peer && engine.device == DeviceKind::cpu;
  }

  Result<std::vector<std::string>> worker_program() const override {
    return default_host() == "node" ? own_program() : std::vector<std::string>();
  }

  Result<std::unique_ptr<HostSession>> open(const Target& target, HostContext& context) const override {
    if (target.engine == "reference") return in_process_session(target);
    NodeServiceSpec spec;
    DRIFTSCOPE_TRY(spec.program, find_node(what));
    DRIFTSCOPE_TRY(spec.site, find_site(context.options.site));
    DRIFTSCOPE_TRY(std::string version, version_of_node());
    spec.patience = life_limits(context.options.timeout, context.options.stall_timeout).stall;
    const auto build = target.options.find("wasm");
    spec.variant = "driftscope-" + (build == target.options.end() ? "relaxed-threads" : build->second);
    const auto threads = target.options.find("threads");
    spec.threads = threads == target.options.end() ? std::to_string(usable_processors()) : threads->second;
    return std::unique_ptr<HostSession>(new Session(target, std::move(spec), std::move(version)));
  }

 private:
  const HostFacts facts_{.name = "node", .order = 30, .optional = true};
};

}  // namespace

void add_to(HostTable& table) { table.add(std::make_unique<Node>()); }

}  // namespace driftscope::hosts::node
