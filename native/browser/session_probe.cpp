#include "native/browser/session_probe.hpp"

namespace driftscope {
namespace {

using std::chrono::milliseconds;
using Life = RemoteBrowser::Life;

constexpr milliseconds probe_interval{1000};
constexpr milliseconds probe_patience{3000};
constexpr milliseconds page_silence{5000};  // it reports several times a second
constexpr int failures_in_sequence = 3;

}  // namespace

SessionProbe::SessionProbe(const RemoteBrowser& browser) : browser_(browser) {
  thread_ = std::thread([this] { work(); });
}

SessionProbe::~SessionProbe() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

SessionProbe::Seen SessionProbe::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

void SessionProbe::work() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, probe_interval, [this] { return over_; })) {
    lock.unlock();
    const RemoteBrowser::Look look = browser_.look(probe_patience);
    lock.lock();
    seen_.gone = seen_.gone || look.life == Life::gone;
    if (look.life == Life::alive)
      seen_.failures = 0;
    else if (look.life != Life::slow)
      ++seen_.failures;
    if (look.life != Life::alive) seen_.why = look.why;
  }
}

std::optional<std::string> lost_session(const SessionProbe::Seen& seen, milliseconds silence) {
  const bool failing = seen.failures >= failures_in_sequence && silence >= page_silence;
  if (!seen.gone && !failing) return std::nullopt;
  return "was lost: " + seen.why;
}

}  // namespace driftscope
