// Devices that have joined the hub (serve --hub): remote:NAME.
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "core/base/format.hpp"
#include "native/browser/remote_session.hpp"
#include "native/browser/run_conditions.hpp"
#include "native/host/host.hpp"
#include "native/host/page_host_session.hpp"
#include "native/http/hub_device.hpp"

namespace driftscope::hosts::remote {
namespace {

// No browser is started: somebody has opened it.
std::string_view step_here(std::string_view step) {
  return step == "starting the browser" ? "waiting for the device" : step;
}

/// Phones are lost in the middle of a run more often than anything else. Whether that repeats is half of the
/// answer: the run is tried once more, for its outputs alone.
class RemoteHostSession final : public HostSession {
 public:
  RemoteHostSession(Target target, const RunnerOptions& options, Server& server, const RemoteDevice& device)
      : inner_(page_host_session(std::move(target), options,
                                 std::make_unique<RemoteSession>(server, device, lost_job_, conditions_),
                                 &lost_)) {}

  Result<Trace> run(const RunRequest& request, const TargetProgress& progress) override {
    auto first = inner_->run(request, [&](std::string_view step, std::int64_t done, std::int64_t total) {
      progress(step_here(step), done, total);
    });
    if (first.ok() && conditions_) add_conditions(*first, *conditions_);
    if (first.ok() || !lost_ || (request.stopped && request.stopped())) return first;
    const std::string where = place_of(request);
    RunRequest again = request;
    again.sink = {};
    again.plan.capture = messages::Capture::outputs;
    again.plan.settle_ms = 0;
    again.plan.unwatched_ms = 0;
    again.plan.memory_runs = 0;
    again.plan.repeat = 1;
    again.plan.compare_runs = false;
    const auto second = inner_->run(again, [&](std::string_view step, std::int64_t done, std::int64_t total) {
      progress(fmt::format("once more, as it was lost: {}", step_here(step)), done, total);
    });
    Error error = std::move(first).error();
    error.message += where;
    if (second.ok())
      error.message += ". Tried once more, for the outputs alone, it ran";
    else
      error.message += ". Tried once more, for the outputs alone, it failed too: " + second.error().message;
    return error;
  }

  Result<std::vector<CaseRun>> run_all(std::span<const RunRequest> requests,
                                       const TargetProgress& progress) override {
    return inner_->run_all(requests, progress);
  }

  Result<NodePrograms> programs(const RunRequest& request, NodeId node,
                                const TargetProgress& progress) override {
    return inner_->programs(request, node, [&](std::string_view step, std::int64_t done, std::int64_t total) {
      progress(step_here(step), done, total);
    });
  }

 private:
  /// ". In run 3, before conv5": what the counts of a lost job mean in this model; empty where they do not
  /// fit it.
  [[nodiscard]] std::string place_of(const RunRequest& request) const {
    if (!lost_job_ || lost_job_->phase != messages::Phase::run) return {};
    const std::vector<Node>& nodes = request.model->graph.nodes;
    const auto count = static_cast<std::int64_t>(nodes.size());
    const messages::LostJob& lost = *lost_job_;
    if (count == 0 || lost.total <= 0 || lost.total % count != 0 || lost.done < 0 || lost.done >= lost.total)
      return {};
    return fmt::format(". In run {}, before {}", lost.done / count + 1,
                       plain_text(nodes[static_cast<std::size_t>(lost.done % count)].name, 60));
  }

  std::optional<messages::LostJob> lost_job_;
  std::optional<nlohmann::json> conditions_;
  bool lost_ = false;
  std::unique_ptr<HostSession> inner_;
};

class RemoteHost final : public Host {
 public:
  const HostFacts& facts() const override { return facts_; }

  Result<std::string> version() const override {
    DRIFTSCOPE_TRY(const HubClient hub, HubClient::find());
    DRIFTSCOPE_TRY(const auto devices, hub.devices());
    std::vector<std::string> names;
    for (const messages::HubDevice& device : devices)
      names.push_back(fmt::format("remote:{} ({})", device.name, browser_of(device)));
    if (names.empty())
      return missing_error("a hub runs, and no device has joined it: driftscope devices --invite");
    return fmt::format("{}", fmt::join(names, ", "));
  }

  bool can_run(const EngineInfo& engine) const override {
    return engine.in_browsers && engine.browser_feature.empty();
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    const auto hub = HubClient::find();
    if (!hub.ok()) return names;
    if (const auto devices = hub->devices(); devices.ok())
      for (const messages::HubDevice& device : *devices)
        names.push_back(std::string(remote_prefix) + device.name);
    return names;
  }

  Result<std::unique_ptr<HostSession>> open(const Target& target, HostContext& context) const override {
    DRIFTSCOPE_TRY(const RemoteDevice device, RemoteDevice::find(target));
    DRIFTSCOPE_TRY(Server* const server, context.server());
    return std::unique_ptr<HostSession>(new RemoteHostSession(target, context.options, *server, device));
  }

 private:
  const HostFacts facts_{.name = "remote", .order = 60, .optional = true};
};

}  // namespace

void add_to(HostTable& table) { table.add(std::make_unique<RemoteHost>()); }

}  // namespace driftscope::hosts::remote
