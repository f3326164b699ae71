// Browsers that a WebDriver elsewhere starts (--webdriver URL): webdriver:NAME.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "native/browser/web_driver_call.hpp"
#include "native/browser/webdriver_session.hpp"
#include "native/host/host.hpp"
#include "native/host/page_host_session.hpp"
#include "native/host/replayed_sink.hpp"

namespace driftscope::hosts::webdriver {
namespace {

constexpr std::string_view waiting = "waiting for a browser of the grid";

/// A node of a grid may end in the middle of a run, which says nothing of the model: the run is begun once
/// more, in another browser.
class WebDriverHostSession final : public HostSession {
 public:
  WebDriverHostSession(const Target& target, const RunnerOptions& options,
                       std::unique_ptr<WebDriverSession> page)
      : page_(*page), inner_(page_host_session(target, options, std::move(page), &lost_)) {}

  Result<Trace> run(const RunRequest& request, const TargetProgress& progress) override {
    DRIFTSCOPE_CHECK(connect(request, progress));
    ReplayedSink sink(request.sink);
    RunRequest once = request;
    once.sink = sink.sink();
    auto first = inner_->run(once, named(progress, ""));
    if (first.ok() || !page_.was_lost() || (request.stopped && request.stopped())) return first;
    Error error = std::move(first).error();
    progress("its browser was lost, asking for another", 0, 0);
    if (const Status found = connect(request, progress); !found.ok()) {
      if (found.error().kind == ErrorKind::cancelled) return found.error();
      error.message += ". Another was asked for: " + found.error().message;
      return error;
    }
    sink.begin_again();
    const TargetProgress again_progress = named(progress, "once more, as its browser was lost: ");
    again_progress("waiting for the page", 0, 0);
    auto again = inner_->run(once, again_progress);
    if (again.ok()) DRIFTSCOPE_CHECK(sink.replayed());
    if (again.ok() || again.error().kind == ErrorKind::cancelled) return again;
    error.message += ". Begun once more in another browser, it failed too: " + again.error().message;
    return error;
  }

  Result<std::vector<CaseRun>> run_all(std::span<const RunRequest> requests,
                                       const TargetProgress& progress) override {
    if (!requests.empty()) DRIFTSCOPE_CHECK(connect(requests.front(), progress));
    return inner_->run_all(requests, named(progress, ""));
  }

  Result<NodePrograms> programs(const RunRequest& request, NodeId node,
                                const TargetProgress& progress) override {
    DRIFTSCOPE_CHECK(connect(request, progress));
    return inner_->programs(request, node, named(progress, ""));
  }

 private:
  /// Before a run, whose job says which browser it is.
  [[nodiscard]] Status connect(const RunRequest& request, const TargetProgress& progress) {
    return page_.connect([&] {
      progress(waiting, 0, 0);
      return !request.stopped || !request.stopped();
    });
  }

  /// `progress` must outlive what is returned.
  [[nodiscard]] TargetProgress named(const TargetProgress& progress, std::string_view before) const {
    return [this, &progress, before](std::string_view step, std::int64_t done, std::int64_t total) {
      if (step == "starting the browser") step = page_.connecting() ? waiting : "waiting for the page";
      progress(fmt::format("{}{}", before, step), done, total);
    };
  }

  WebDriverSession& page_;  // inner_ has it
  bool lost_ = false;
  std::unique_ptr<HostSession> inner_;
};

class WebDriverHost final : public Host {
 public:
  const HostFacts& facts() const override { return facts_; }

  Result<std::string> version() const override {
    constexpr std::chrono::seconds patience{2};
    DRIFTSCOPE_TRY(const WebDriverAddress address, web_driver_address({}));
    const DriverAnswer answer = ask_driver(address, {.path = "/status", .patience = patience});
    if (!answer.ok()) return in_context(answer.error(), address.text());
    return "a WebDriver at " + address.text();
  }

  bool can_run(const EngineInfo& engine) const override {
    return engine.in_browsers && engine.browser_feature.empty();
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    const auto named = web_driver_names({});
    if (!named.ok()) return names;
    for (const std::string& name : *named) names.push_back(std::string(web_driver_prefix) + name);
    return names;
  }

  Result<std::unique_ptr<HostSession>> open(const Target& target, HostContext& context) const override {
    DRIFTSCOPE_TRY(WebDriverTarget found, find_web_driver_target(target, context.options.web_driver));
    DRIFTSCOPE_TRY(Server* const server, context.web_driver_server());
    return std::unique_ptr<HostSession>(new WebDriverHostSession(
        target, context.options, std::make_unique<WebDriverSession>(*server, std::move(found))));
  }

 private:
  const HostFacts facts_{.name = "webdriver", .order = 61, .optional = true};
};

}  // namespace

void add_to(HostTable& table) { table.add(std::make_unique<WebDriverHost>()); }

}  // namespace driftscope::hosts::webdriver
