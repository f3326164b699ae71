#include "native/browser/run_in_browser.hpp"

#include <algorithm>

#include "core/base/json.hpp"
#include "core/protocol/batch.hpp"
#include "core/trace/trace_file.hpp"
#include "native/browser/launcher.hpp"
#include "native/browser/page_life.hpp"
#include "native/os/cleanup.hpp"
#include "native/os/resource_limits.hpp"

namespace driftscope {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds poll_interval{50};

// The job for the page; web/page/job.mjs reads it.
messages::Job description_of(const BrowserJob& job, const HostInfo& host) {
  messages::Job description = job_for(job.target, host);
  description.model = {job.model_name, static_cast<std::int64_t>(job.model->size()), job.model_sha256};
  for (const JobAttachment& file : job.attachments)
    description.attachments.push_back({file.location, static_cast<std::int64_t>(file.bytes->size())});
  description.repeat = job.repeat;
  description.settle_ms = job.settle.count();
  description.compare_runs = job.compare_runs;
  description.unwatched_ms = job.unwatched.count();
  description.capture = messages::named<messages::CaptureOrNone>(capture_name(job.capture))
                            .value_or(messages::CaptureOrNone::all);
  if (job.samples > 0) description.samples = job.samples;
  description.stream = job.samples == 0;
  description.values = job.values;
  return description;
}

struct MemorySampleAt {
  Clock::time_point time;
  std::int64_t bytes = 0;
};

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

void add_memory(Trace& trace, const std::vector<MemorySampleAt>& samples, Clock::time_point run_began) {
  for (const MemorySampleAt& sample : samples) {
    const double t_ms = std::chrono::duration<double, std::milli>(sample.time - run_began).count();
    trace.memory.push_back({t_ms, sample.bytes, "process_tree_pss"});
  }
}

Result<Trace> read_answer(const Bytes& bytes, const BrowserJob& job) {
  auto trace = read_trace(bytes);
  if (!trace.ok()) return in_context(std::move(trace).error(), "the trace that the browser sent");
  if (trace->target != job.target.text())
    return internal_error("the browser sent a trace of '" + trace->target + "', asked was '" +
                          job.target.text() + "'");
  return trace;
}

/// A browser's result, and observations during the run.
struct Outcome {
  Bytes answer;
  std::vector<MemorySampleAt> memory;
  Clock::time_point run_began;
};

/// Puts the job on the board, starts the browser on it, monitors it and ends it.
Result<Outcome> run_job(Server& server, const HostInfo& host, JobContent content,
                        const BrowserOptions& options, const BrowserProgressCallback& progress) {
  DRIFTSCOPE_TRY(std::shared_ptr<Job> added, server.jobs().add(std::move(content)));
  const BoardEntry entry(server.jobs(), std::move(added));
  std::optional<Browser> browser;
  const auto start = [&]() -> Status {
    DRIFTSCOPE_TRY(Browser started, Browser::start(host, server.job_url(*entry)));
    browser.reset();
    browser.emplace(std::move(started));
    return {};
  };
  const LifeLimits limits = life_limits(options.timeout, options.stall_timeout);
  const Clock::time_point asked = Clock::now();
  DRIFTSCOPE_CHECK(start());
  bool again = false;

  std::vector<MemorySampleAt> memory;
  const auto sample_memory = [&] { memory.push_back({Clock::now(), browser->memory()}); };
  while (true) {
    const Job::Snapshot now = entry->wait(poll_interval);
    if (now.over) break;
    if (auto error = check_life(now, host, *browser, limits)) {
      if (options.lost != nullptr) *options.lost = true;
      return with_memory(*std::move(error), memory);
    }
    if (!now.opened && !again && Clock::now() - asked > options.start_patience) {
      again = true;
      browser->end();  // before it is started again: none of its pages may open the job any longer
      if (entry->wait(milliseconds(0)).opened)
        return hang_error(
            host, "did not open the page for " + seconds_text(options.start_patience) + " and was ended");
      DRIFTSCOPE_CHECK(start());
      continue;
    }
    if (memory.empty() || Clock::now() - memory.back().time >= options.memory_interval) sample_memory();
    BrowserProgress report{now.progress, memory.back().bytes};
    report.slow = now.opened && Clock::now() - now.last_change > options.timeout;
    if (progress && !progress(report)) return Error{ErrorKind::cancelled, host.host + ": stopped"};
  }
  sample_memory();  // even the shortest run has one, taken while everything is still in place
  const Job::Snapshot last = entry->wait(milliseconds(0));
  browser->end();
  auto answer = entry->take();
  if (!answer.ok()) return in_context(std::move(answer).error(), host.host);
  return Outcome{*std::move(answer), std::move(memory), last.run_began.value_or(last.last_sign)};
}

}  // namespace

Status check_browser_model(const std::string& name, const Bytes& model,
                           const std::vector<JobAttachment>& attachments, std::size_t limit) {
  std::size_t bytes = model.size();
  for (const JobAttachment& file : attachments) bytes += file.bytes->size();
  if (bytes <= limit) return {};
  return limit_error(name + " has " + std::to_string(bytes >> 20) +
                     " MiB with its external data; a browser's engine takes up to " +
                     std::to_string(limit >> 20) +
                     " MiB, since its memory ends at 4 GiB. Run it on the pc, or with smaller weights");
}

Result<Trace> run_in_browser(Server& server, const BrowserJob& job, const BrowserOptions& options,
                             const BrowserProgressCallback& progress) {
  DRIFTSCOPE_TRY(const HostInfo host, probe_target_host(job.target));
  return run_in_browser(server, host, job, options, progress);
}

Result<Trace> run_in_browser(Server& server, const HostInfo& host, const BrowserJob& job,
                             const BrowserOptions& options, const BrowserProgressCallback& progress) {
  DRIFTSCOPE_CHECK(check_browser_model(job.model_name, *job.model, job.attachments, options.max_model_bytes));
  std::vector<NamedTensor> collected;
  TensorSink collect = [&collected](const std::string& name, const Tensor& tensor) {
    collected.push_back({name, tensor});
    return Status();
  };
  JobContent content{json_text(encode(description_of(job, host))), job.model, {}, job.inputs};
  if (job.samples == 0)
    content.values = std::make_unique<ValueReceiver>(job.sink ? job.sink : collect, options.max_value_bytes);
  for (const JobAttachment& file : job.attachments) content.attachments.push_back(file.bytes);
  DRIFTSCOPE_TRY(const Outcome outcome, run_job(server, host, std::move(content), options, progress));
  DRIFTSCOPE_TRY(Trace trace, read_answer(outcome.answer, job));
  if (!collected.empty()) trace.tensors = std::move(collected);
  add_memory(trace, outcome.memory, outcome.run_began);
  return trace;
}

messages::Job job_for(const Target& target, const HostInfo& host) {
  messages::Job job;
  job.target = target.text();
  job.engine = target.engine;
  job.options = target.options;
  job.environment = {{"browser_version", host.version}};
  if (asked_memory() > 0) job.memory = asked_memory();
  return job;
}

Result<std::vector<Result<Trace>>> run_batch_in_browser(Server& server, const BrowserBatch& batch,
                                                        const BrowserOptions& options,
                                                        const BrowserProgressCallback& progress) {
  DRIFTSCOPE_TRY(const HostInfo host, probe_target_host(batch.target));
  messages::Job description = job_for(batch.target, host);
  description.model.name = batch.name;
  description.batch = static_cast<std::int64_t>(batch.cases);
  JobContent content{json_text(encode(description)), nullptr, {}, batch.packed};
  DRIFTSCOPE_TRY(const Outcome outcome, run_job(server, host, std::move(content), options, progress));
  return unpack_answers(outcome.answer, batch.cases);
}

}  // namespace driftscope
