#include "native/browser/remote_session.hpp"

#include <fmt/format.h>

#include "native/browser/page_life.hpp"
#include "native/http/hub_device.hpp"
#include "native/os/cleanup.hpp"

namespace driftscope {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds job_interval{50};
constexpr milliseconds ask_interval{1000};  // of the hub, about the device

}  // namespace

Error RemoteSession::lost(const std::string& how) const {
  return missing_error(fmt::format("{} ({}) {}", host().host, host().version, how));
}

Result<BrowserOutcome> RemoteSession::run(JobContent content, const BrowserOptions& options,
                                          const BrowserProgressCallback& progress) {
  lost_job_.reset();
  conditions_.reset();
  DRIFTSCOPE_TRY(std::shared_ptr<Job> added, server_.jobs().add(std::move(content)));
  const BoardEntry entry(server_.jobs(), added);
  DRIFTSCOPE_TRY(const auto given, device_.give(server_, *added, progress));
  return watch(*added, options, progress);
}

// What ends the wait; nothing while the device may still succeed.
std::optional<Error> RemoteSession::trouble(const Job& job, const Job::Snapshot& now,
                                            const BrowserOptions& options,
                                            const messages::HubDevice& device) const {
  if (device.lost && device.lost->job == job.id()) return lost("lost its page " + lost_text(*device.lost));
  const LifeLimits limits = life_limits(options.timeout, options.stall_timeout);
  const auto why = given_up(now, Clock::now(), limits);
  if (!why) return std::nullopt;
  std::string text = *why;
  if (!is_here(device))
    text += fmt::format(
        "; the device is {}: its screen may be locked, its page closed or ended by the system, or its "
        "network gone",
        state_of(device));
  else if (!device.visible)
    text += "; its page is hidden, where browsers slow it down or stop it: bring it to the front";
  return lost(text);
}

// The page has said them before its result. Without them a run is as good.
void RemoteSession::ask_for_conditions(const std::string& job) {
  const auto device = device_.now();
  if (device.ok() && device->conditions_of == job) conditions_ = device->conditions;
}

Result<BrowserOutcome> RemoteSession::watch(Job& job, const BrowserOptions& options,
                                            const BrowserProgressCallback& progress) {
  Clock::time_point asked{};
  while (true) {
    const Job::Snapshot now = job.wait(job_interval);
    if (now.over) break;
    if (CleanupRegistry::instance().closed()) return Error{ErrorKind::cancelled, "stopped"};
    if (Clock::now() - asked >= ask_interval) {
      DRIFTSCOPE_TRY(const messages::HubDevice device, device_.now());
      asked = Clock::now();
      if (auto error = trouble(job, now, options, device)) {
        if (job.wait(milliseconds(0)).over) break;
        if (options.lost != nullptr) *options.lost = true;
        if (device.lost && device.lost->job == job.id()) lost_job_ = device.lost;
        return *std::move(error);
      }
    }
    BrowserProgress report{now.progress, 0};
    report.slow = now.opened && Clock::now() - now.last_change > options.timeout;
    if (progress && !progress(report)) return Error{ErrorKind::cancelled, host().host + ": stopped"};
  }
  const Job::Snapshot last = job.wait(milliseconds(0));
  ask_for_conditions(job.id());
  auto answer = job.take();
  if (!answer.ok()) return in_context(std::move(answer).error(), host().host);
  return BrowserOutcome{*std::move(answer), {}, last.run_began.value_or(last.last_sign)};
}

}  // namespace driftscope
