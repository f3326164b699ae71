// Our engines as WebAssembly under Node, without a browser: the service of web/worker/node_service.mjs, in
// the messages that a browser's worker uses. What needs a GPU or a page is not there.
#include <fmt/format.h>

#include <sstream>

#include "native/host/host.hpp"
#include "native/host/hosts/node/node_service.hpp"
#include "native/host/service_run.hpp"
#include "native/os/child_process.hpp"
#include "native/os/node_program.hpp"
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

class Session final : public HostSession {
 public:
  Session(Target target, NodeServiceSpec spec, std::string version)
      : target_(std::move(target)), spec_(std::move(spec)), version_(std::move(version)) {}

  // One process for all runs; after one that failed there is another.
  Result<Trace> run(const RunRequest& request, const TargetProgress& progress) override {
    if (!service_ || !service_->alive()) {
      progress("starting Node", 0, 0);
      service_.reset();
      DRIFTSCOPE_TRY(service_, NodeService::start(spec_));
    }
    const LoadRequest load = load_request(*request.model, target_);
    const ServiceRunOptions options{
        .send_model = true,
        .stream_values = true,
        .environment = {{"host", target_.host}, {"browser", version_}, {"wasm_variant", spec_.variant}}};
    auto trace = run_on_service(*service_, target_, load, request, options, progress);
    if (!trace.ok()) {
      service_.reset();
      return trace;
    }
    trace->memory.push_back({0.0, service_->memory(), "process_tree_pss"});
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
    return engine.in_browsers && engine.kind != EngineKind::peer && engine.device == DeviceKind::cpu;
  }

  Result<std::unique_ptr<HostSession>> open(const Target& target, HostContext& context) const override {
    NodeServiceSpec spec;
    DRIFTSCOPE_TRY(spec.program, find_node(what));
    DRIFTSCOPE_TRY(spec.site, find_site(context.options.site));
    DRIFTSCOPE_TRY(std::string version, version_of_node());
    spec.timeout = context.options.timeout;
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
