#include "native/browser/browser_session.hpp"

#include <algorithm>

#include "native/browser/page_life.hpp"
#include "native/os/cleanup.hpp"

namespace driftscope {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds poll_interval{50};

Error hang_error(const HostInfo& host, const std::string& what) {
  return missing_error(host.host + " (" + host.version + ") " + what);
}

// Why the wait must end without a result; nothing while it may still succeed.
std::optional<Error> check_life(const Job::Snapshot& now, const HostInfo& host, const Browser& browser,
                                const LifeLimits& limits) {
  if (CleanupRegistry::instance().closed()) return Error{ErrorKind::cancelled, "stopped"};
  if (!browser.running())
    return missing_error(host.host + " (" + host.version +
                         ") ended before it sent its trace: " + browser.exit_text());
  if (const auto why = given_up(now, Clock::now(), limits)) return hang_error(host, *why);
  return std::nullopt;
}

// A tab that the browser killed for its memory sends nothing: its last memory use is the only hint.
Error with_memory(Error error, const std::vector<MemorySampleAt>& samples) {
  constexpr std::int64_t much = std::int64_t{2} << 30;
  std::int64_t peak = 0;
  for (const MemorySampleAt& sample : samples) peak = std::max(peak, sample.bytes);
  if (error.kind == ErrorKind::missing && peak >= much)
    error.message += "; its processes had taken " + std::to_string(peak >> 20) +
                     " MiB: the page may have run out of memory. Run the model on the pc, or with a "
                     "smaller batch";
  return error;
}

}  // namespace

Status BrowserSession::start(const Job& job) {
  ++starts_;
  DRIFTSCOPE_TRY(Browser started, Browser::start(host_, server_.job_url(job)));
  browser_.reset();
  browser_.emplace(std::move(started));
  return {};
}

void BrowserSession::end() {
  last_.reset();  // first, so that its page hears that no job follows
  if (browser_) browser_->end();
  browser_.reset();
}

Result<BrowserOutcome> BrowserSession::run(JobContent content, const BrowserOptions& options,
                                           const BrowserProgressCallback& progress) {
  content.stays = true;
  DRIFTSCOPE_TRY(std::shared_ptr<Job> added, server_.jobs().add(std::move(content)));
  auto entry = std::make_unique<BoardEntry>(server_.jobs(), added);
  if (browser_ && last_ && browser_->running()) {
    (*last_)->next().send(added->id());
  } else {
    end();
    DRIFTSCOPE_CHECK(start(*added));
  }
  auto outcome = watch(*added, options, progress);
  // What stopped a run may have left its browser in a state that spoils the next one.
  if (!outcome.ok())
    end();
  else
    last_ = std::move(entry);
  return outcome;
}

Result<BrowserOutcome> BrowserSession::watch(Job& job, const BrowserOptions& options,
                                             const BrowserProgressCallback& progress) {
  const LifeLimits limits = life_limits(options.timeout, options.stall_timeout);
  const Clock::time_point asked = Clock::now();
  bool again = false;
  std::vector<MemorySampleAt> memory;
  const auto sample_memory = [&] { memory.push_back({Clock::now(), browser_->memory()}); };
  while (true) {
    const Job::Snapshot now = job.wait(poll_interval);
    if (now.over) break;
    if (auto error = check_life(now, host_, *browser_, limits)) {
      if (options.lost != nullptr) *options.lost = true;
      return with_memory(*std::move(error), memory);
    }
    if (!now.opened && !again && Clock::now() - asked > options.start_patience) {
      again = true;
      browser_->end();  // before it is started again: none of its pages may open the job any longer
      if (job.wait(milliseconds(0)).opened)
        return hang_error(
            host_, "did not open the page for " + seconds_text(options.start_patience) + " and was ended");
      DRIFTSCOPE_CHECK(start(job));
      continue;
    }
    if (memory.empty() || Clock::now() - memory.back().time >= options.memory_interval) sample_memory();
    BrowserProgress report{now.progress, memory.back().bytes};
    report.slow = now.opened && Clock::now() - now.last_change > options.timeout;
    if (progress && !progress(report)) return Error{ErrorKind::cancelled, host_.host + ": stopped"};
  }
  sample_memory();  // even the shortest run has one, taken while everything is still in place
  const Job::Snapshot last = job.wait(milliseconds(0));
  auto answer = job.take();
  if (!answer.ok()) return in_context(std::move(answer).error(), host_.host);
  return BrowserOutcome{*std::move(answer), std::move(memory), last.run_began.value_or(last.last_sign)};
}

}  // namespace driftscope
