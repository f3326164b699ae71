#include "native/browser/page_life.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace driftscope {
namespace {

using std::chrono::milliseconds;

constexpr int stall_factor = 5;
constexpr milliseconds usual_silence{30000};   // the page reports several times a second
constexpr milliseconds worker_is_asked{3000};  // a worker that is busy for less is not worth a word

std::string phase_text(const JobProgress& progress) {
  std::string text =
      fmt::format("in phase '{}'", progress.phase ? messages::name_of(*progress.phase) : "start");
  if (progress.to_prepare > 0)
    text += fmt::format(" ({} of {} shaders compiled)", progress.prepared, progress.to_prepare);
  return text;
}

// What is known of the worker, for who has to decide whether more patience would help.
std::string worker_text(const Job::Snapshot& job, Clock::time_point now) {
  if (!job.worker_answered) return "its page lives";
  const auto silent = std::chrono::duration_cast<milliseconds>(now - *job.worker_answered);
  if (silent < worker_is_asked) return "its page lives, and its worker answers: it waits for the browser";
  return fmt::format("its page lives, but its worker has not answered for {}: it computes, or it hangs",
                     seconds_text(silent));
}

}  // namespace

LifeLimits life_limits(milliseconds timeout, std::optional<milliseconds> stall) {
  return {.open = timeout,
          .silence = std::min(timeout, std::max(usual_silence, timeout / 2)),
          .stall = stall.value_or(timeout * stall_factor)};
}

std::optional<std::string> given_up(const Job::Snapshot& job, Clock::time_point now,
                                    const LifeLimits& limits) {
  if (!job.opened) {
    if (now - job.last_sign <= limits.open) return std::nullopt;
    return fmt::format("did not open the page for {} and was ended; --timeout allows more",
                       seconds_text(limits.open));
  }
  if (now - job.last_sign > limits.silence)
    return fmt::format("gave no sign of life for {} {} and was ended; --timeout allows more",
                       seconds_text(limits.silence), phase_text(job.progress));
  if (now - job.last_change > limits.stall)
    return fmt::format("made no progress for {} {} and was ended ({}); --stall-timeout allows more",
                       seconds_text(limits.stall), phase_text(job.progress), worker_text(job, now));
  return std::nullopt;
}

std::string seconds_text(milliseconds time) {
  const auto tenths = time.count() / 100;
  return fmt::format("{}.{} s", tenths / 10, tenths % 10);
}

}  // namespace driftscope
