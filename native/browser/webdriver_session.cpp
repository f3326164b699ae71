#include "native/browser/webdriver_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "native/os/cleanup.hpp"

namespace driftscope {
namespace {

using std::chrono::milliseconds;
using Life = RemoteBrowser::Life;

constexpr milliseconds watch_interval{50};
constexpr milliseconds surely_there{3000};  // since it was used last
constexpr milliseconds to_look{5000};

milliseconds since(Clock::time_point then) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - then);
}

/// "in phase 'run', 12 of 40 done"
std::string place_text(const Job::Snapshot& now) {
  if (!now.opened) return "before its page was opened";
  const JobProgress& job = now.progress;
  std::string text = fmt::format("in phase '{}'", job.phase ? messages::name_of(*job.phase) : "start");
  if (job.samples > 0) text += fmt::format(", sample {} of {}", job.sample, job.samples);
  if (job.total > 0) text += fmt::format(", {} of {} done", job.done, job.total);
  return text;
}

}  // namespace

std::string remote_job_url(const Server& server, const Job& job) {
  return server.hub_url(server.token()) + "?job=" + job.id();
}

WebDriverSession::WebDriverSession(Server& server, WebDriverTarget target, const RemotePatience& patience)
    : server_(server), target_(std::move(target)), patience_(patience) {
  host_.host = target_.host;
  host_.label = "a browser of " + target_.address.text();
}

Status WebDriverSession::connect(const GoesOn& goes_on) {
  if (browser_ && since(used_) > surely_there) {
    const Life life = browser_->look(to_look).life;
    if (life == Life::gone || life == Life::failing) end();  // as a grid does to sessions that are idle
    used_ = Clock::now();
  }
  if (browser_) return {};
  connecting_ = true;
  auto started = RemoteBrowser::start(target_.address, target_.capabilities, goes_on, patience_);
  connecting_ = false;
  if (!started.ok()) return in_context(std::move(started).error(), target_.host);
  browser_.emplace(*std::move(started));
  used_ = Clock::now();
  host_.version = browser_->version();
  return {};
}

void WebDriverSession::end() {
  last_.reset();  // first, so that its page hears that no job follows
  browser_.reset();
}

Error WebDriverSession::ended(const std::string& how) const {
  return missing_error(fmt::format("{} ({}) {}", host_.host, host_.version, how));
}

Status WebDriverSession::prepare(const BrowserProgressCallback& progress) {
  return connect([&] { return !progress || progress({}); });
}

Status WebDriverSession::open(const Job& job, const BrowserProgressCallback& progress) {
  const std::string said = host_.version;
  DRIFTSCOPE_CHECK(prepare(progress));
  if (!said.empty() && host_.version != said)
    return missing_error(
        fmt::format("{}: the job is for {}, and the browser that came instead of it is {}. Run it again, or "
                    "give a browserVersion in the capabilities",
                    host_.host, said, host_.version));
  browser_->open(remote_job_url(server_, job));
  return {};
}

Result<BrowserOutcome> WebDriverSession::run(JobContent content, const BrowserOptions& options,
                                             const BrowserProgressCallback& progress) {
  lost_ = false;
  content.stays = true;
  DRIFTSCOPE_TRY(std::shared_ptr<Job> added, server_.jobs().add(std::move(content)));
  auto entry = std::make_unique<BoardEntry>(server_.jobs(), added);
  if (browser_ && last_) {
    (*last_)->next().send(added->id());
  } else {
    DRIFTSCOPE_CHECK(open(*added, progress));
  }
  auto outcome = watch(*added, options, progress);
  used_ = Clock::now();
  // What stopped a run may have left its browser in a state that spoils the next one.
  if (!outcome.ok())
    end();
  else
    last_ = std::move(entry);
  return outcome;
}

// Why waiting on is pointless; sets lost_ where another browser may do better.
std::optional<std::string> WebDriverSession::trouble(const Job::Snapshot& now, const SessionProbe::Seen& seen,
                                                     Clock::time_point asked, const LifeLimits& limits) {
  Job::Snapshot waited = now;
  if (!now.opened) waited.last_sign = std::max(asked, now.last_sign);  // not while it waited for a browser
  auto why = lost_session(seen, since(waited.last_sign));
  lost_ = why.has_value();
  if (why) return *why + ", " + place_text(now);
  if (!now.opened) {
    if (const auto failure = browser_->open_failure())
      return fmt::format(
          "could not open the page: {}; how browsers elsewhere reach this machine: "
          "docs/webdriver.md",
          *failure);
  }
  why = given_up(waited, Clock::now(), limits);
  lost_ = why && seen.failures > 0;  // else it hangs, and would again
  return why;
}

Result<BrowserOutcome> WebDriverSession::watch(Job& job, const BrowserOptions& options,
                                               const BrowserProgressCallback& progress) {
  const LifeLimits limits = life_limits(options.timeout, options.stall_timeout);
  Clock::time_point asked = Clock::now();
  bool again = false;
  std::optional<SessionProbe> probe;
  probe.emplace(*browser_);
  while (true) {
    const Job::Snapshot now = job.wait(watch_interval);
    if (now.over) break;
    if (CleanupRegistry::instance().closed()) return Error{ErrorKind::cancelled, "stopped"};
    const auto why = trouble(now, probe->seen(), asked, limits);
    if (why) {
      if (job.wait(milliseconds(0)).over) break;
      if (options.lost != nullptr) *options.lost = true;
      return ended(*why);
    }
    if (!now.opened && !again && Clock::now() - asked > options.start_patience) {
      again = true;
      probe.reset();
      browser_.reset();  // before another is asked for: none of its pages may open the job any longer
      if (job.wait(milliseconds(0)).opened)
        return ended("did not open the page for " + seconds_text(options.start_patience) + " and was ended");
      DRIFTSCOPE_CHECK(open(job, progress));
      asked = Clock::now();
      probe.emplace(*browser_);
      continue;
    }
    BrowserProgress report{now.progress, 0};
    report.slow = now.opened && Clock::now() - now.last_change > options.timeout;
    if (progress && !progress(report)) return Error{ErrorKind::cancelled, host_.host + ": stopped"};
  }
  lost_ = false;
  const Job::Snapshot last = job.wait(milliseconds(0));
  auto answer = job.take();
  if (!answer.ok()) return in_context(std::move(answer).error(), host_.host);
  return BrowserOutcome{*std::move(answer), {}, last.run_began.value_or(last.last_sign)};
}

}  // namespace driftscope
