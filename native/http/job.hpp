// A job: the run requested from one browser, and its progress so far. The board holds the jobs of
// a server by unguessable name, so that several browsers and runs do not disturb each other.
// Clients: job_api (the browser's side, on the server's threads), run_in_browser (the side that
// waits). It speaks no HTTP and knows no browser.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/shared_bytes.hpp"
#include "core/protocol/value_stream.hpp"
#include "generated/protocol/messages.hpp"
#include "native/http/long_poll.hpp"

namespace driftscope {

using Bytes = std::vector<std::byte>;

/// The data that the page fetches, and the receiver of its values.
struct JobContent {
  std::string description;  ///< JSON, see job_description
  SharedBytes model;
  std::vector<SharedBytes> attachments;  ///< external data files of the model
  SharedBytes inputs;                    ///< safetensors
  /// Receives captured values on the server's threads, one message at a time, and none once the job is
  /// over. Null: the job captures none.
  std::unique_ptr<ValueReceiver> values = nullptr;
  /// The page may get another job after this one: the answer to its result waits for a word about that.
  bool stays = false;
};

/// Progress reported by the page. Counts are those of the session service.
struct JobProgress {
  std::optional<messages::Phase> phase = {};  ///< nothing until the page has opened
  std::int64_t done = 0;
  std::int64_t total = 0;
  std::int64_t sample = 0;
  std::int64_t samples = 0;
  std::int64_t prepared = 0;    ///< programs for a GPU that are compiled,
  std::int64_t to_prepare = 0;  ///< of how many; 0: not known
  bool operator==(const JobProgress&) const = default;
};

using Clock = std::chrono::steady_clock;

class Job {
 public:
  Job(std::string id, JobContent content);

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const JobContent& content() const { return content_; }
  /// For a page that stays for more than one result; closed when the job is over.
  [[nodiscard]] LongPoll& long_poll() { return long_poll_; }
  /// Tells the page of a job that stays which one it runs next: an ID. Open until this one is cancelled.
  [[nodiscard]] LongPoll& next() { return next_; }

  // The browser's side. False: the job is over (finished or cancelled), the page should stop.
  bool opened();
  /// A sign of life, and progress where it differs from the last one. `worker_silence`: for how long the
  /// page's worker has not answered.
  bool progress(const JobProgress& progress,
                std::optional<std::chrono::milliseconds> worker_silence = std::nullopt);
  /// A message of captured values (value_stream.hpp); an error of their receiver ends the job. `piece`: its
  /// number, from a page that sends a piece again whose answer it did not get; one that is here already is
  /// taken for received.
  bool values(const Bytes& message, std::optional<std::int64_t> piece = std::nullopt);
  bool finish(Bytes trace);
  bool fail(Error error);

  // The waiting side.
  /// After this returns no value is being received.
  void cancel();
  struct Snapshot {
    bool opened = false;
    bool over = false;
    JobProgress progress;
    Clock::time_point last_sign;    ///< any request of the page for this job
    Clock::time_point last_change;  ///< of the progress: a page may live while its worker hangs
    std::optional<Clock::time_point> worker_answered;  ///< last; nothing where the page has no worker
    std::optional<Clock::time_point> run_began;        ///< first progress in phase "run"
  };
  /// Returns when the job is over or the time has passed.
  [[nodiscard]] Snapshot wait(std::chrono::milliseconds time);
  /// The trace bytes or the page's error; only once, after the job is over.
  [[nodiscard]] Result<Bytes> take();

 private:
  bool end(std::optional<Result<Bytes>> outcome);

  const std::string id_;
  const JobContent content_;
  LongPoll long_poll_;
  LongPoll next_;
  std::mutex values_mutex_;      // taken before mutex_
  std::int64_t next_piece_ = 0;  // guarded by values_mutex_
  std::mutex mutex_;
  std::condition_variable changed_;
  Snapshot now_;
  std::optional<Result<Bytes>> outcome_;
};

class JobBoard {
 public:
  [[nodiscard]] Result<std::shared_ptr<Job>> add(JobContent content);
  [[nodiscard]] std::shared_ptr<Job> find(const std::string& id) const;  ///< null: unknown
  void remove(const std::string& id);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Job>> jobs_;
};

/// Keeps a job on a board during its lifetime: at the end it is always cancelled and removed.
class BoardEntry {
 public:
  BoardEntry(JobBoard& board, std::shared_ptr<Job> job) : board_(board), job_(std::move(job)) {}
  ~BoardEntry() {
    job_->cancel();
    board_.remove(job_->id());
  }
  BoardEntry(const BoardEntry&) = delete;
  BoardEntry& operator=(const BoardEntry&) = delete;
  Job& operator*() const { return *job_; }
  Job* operator->() const { return job_.get(); }

 private:
  JobBoard& board_;
  std::shared_ptr<Job> job_;
};

}  // namespace driftscope
