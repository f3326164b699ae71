#include "native/http/job.hpp"

#include <utility>

#include "native/os/token.hpp"

namespace driftscope {

Job::Job(std::string id, JobContent content) : id_(std::move(id)), content_(std::move(content)) {
  now_.last_sign = now_.last_change = Clock::now();
}

bool Job::opened() {
  const std::lock_guard lock(mutex_);
  if (now_.over) return false;
  now_.opened = true;
  now_.last_sign = now_.last_change = Clock::now();
  return true;
}

bool Job::progress(const JobProgress& progress, std::optional<std::chrono::milliseconds> worker_silence) {
  const std::lock_guard lock(mutex_);
  if (now_.over) return false;
  now_.last_sign = Clock::now();
  if (progress != now_.progress) {
    now_.progress = progress;
    now_.last_change = now_.last_sign;
  }
  now_.worker_answered.reset();
  if (worker_silence) now_.worker_answered = now_.last_sign - *worker_silence;
  if (progress.phase == messages::Phase::run && !now_.run_began) now_.run_began = now_.last_sign;
  return true;
}

bool Job::values(const Bytes& message, std::optional<std::int64_t> piece) {
  const std::lock_guard taking(values_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (now_.over || !content_.values) return false;
    now_.last_sign = now_.last_change = Clock::now();
  }
  if (piece && *piece < next_piece_) return true;
  if (piece && *piece > next_piece_)
    return fail(bad_input("the page sent piece " + std::to_string(*piece) + " of its values, expected was " +
                          std::to_string(next_piece_))),
           false;
  ++next_piece_;
  auto taken = content_.values->take(message);
  return taken.ok() || (fail(std::move(taken).error()), false);
}

bool Job::finish(Bytes trace) {
  const std::lock_guard taking(values_mutex_);
  if (content_.values)
    if (auto complete = content_.values->finish(); !complete.ok()) return fail(std::move(complete).error());
  return end(Result<Bytes>(std::move(trace)));
}

bool Job::fail(Error error) { return end(Result<Bytes>(std::move(error))); }

void Job::cancel() {
  end(std::nullopt);
  next_.close();
  const std::lock_guard none_taken_any_more(values_mutex_);
}

bool Job::end(std::optional<Result<Bytes>> outcome) {
  {
    const std::lock_guard lock(mutex_);
    if (now_.over) return false;
    now_.over = true;
    outcome_ = std::move(outcome);
  }
  long_poll_.close();
  changed_.notify_all();
  return true;
}

Job::Snapshot Job::wait(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [&] { return now_.over; });
  return now_;
}

Result<Bytes> Job::take() {
  const std::lock_guard lock(mutex_);
  if (!outcome_) return Error{ErrorKind::cancelled, "the job was cancelled"};
  return *std::exchange(outcome_, std::nullopt);
}

Result<std::shared_ptr<Job>> JobBoard::add(JobContent content) {
  DRIFTSCOPE_TRY(std::string id, random_token());
  auto job = std::make_shared<Job>(id, std::move(content));
  const std::lock_guard lock(mutex_);
  jobs_.emplace(std::move(id), job);
  return job;
}

std::shared_ptr<Job> JobBoard::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second;
}

void JobBoard::remove(const std::string& id) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(id);
}

}  // namespace driftscope
