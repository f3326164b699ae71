#include "native/browser/run_in_browser.hpp"

#include <algorithm>

#include "core/base/json.hpp"
#include "core/protocol/batch.hpp"
#include "core/protocol/programs.hpp"
#include "core/trace/trace_file.hpp"
#include "native/os/resource_limits.hpp"

namespace driftscope {
namespace {

// The job for the page; web/page/job.mjs reads it.
messages::Job description_of(const BrowserJob& job, const HostInfo& host) {
  messages::Job description = job_for(job.target, host);
  description.model = {job.model_name, static_cast<std::int64_t>(job.model.size()), job.model_sha256};
  for (const JobAttachment& file : job.attachments)
    description.attachments.push_back({file.location, static_cast<std::int64_t>(file.bytes.size())});
  static_cast<messages::RunPlan&>(description) = job.plan;
  description.stream = !job.plan.samples;
  return description;
}

JobContent content_of(const BrowserJob& job, const messages::Job& description) {
  JobContent content{json_text(encode(description)), job.model, {}, job.inputs};
  for (const JobAttachment& file : job.attachments) content.attachments.push_back(file.bytes);
  return content;
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

}  // namespace

Status check_browser_model(const std::string& name, const SharedBytes& model,
                           const std::vector<JobAttachment>& attachments, std::size_t limit) {
  std::size_t bytes = model.size();
  for (const JobAttachment& file : attachments) bytes += file.bytes.size();
  if (bytes <= limit) return {};
  return limit_error(name + " has " + std::to_string(bytes >> 20) +
                     " MiB with its external data; a browser's engine takes up to " +
                     std::to_string(limit >> 20) +
                     " MiB, since its memory ends at 4 GiB. Run it on the pc, or with smaller weights");
}

Result<Trace> run_in_browser(PageSession& session, const BrowserJob& job, const BrowserOptions& options,
                             const BrowserProgressCallback& progress) {
  DRIFTSCOPE_CHECK(check_browser_model(job.model_name, job.model, job.attachments, options.max_model_bytes));
  std::vector<NamedTensor> collected;
  TensorSink collect = [&collected](const std::string& name, const Tensor& tensor) {
    collected.push_back({name, tensor});
    return Status();
  };
  DRIFTSCOPE_CHECK(session.prepare(progress));
  JobContent content = content_of(job, description_of(job, session.host()));
  if (!job.plan.samples)
    content.values = std::make_unique<ValueReceiver>(job.sink ? job.sink : collect, options.max_value_bytes);
  DRIFTSCOPE_TRY(const BrowserOutcome outcome, session.run(std::move(content), options, progress));
  DRIFTSCOPE_TRY(Trace trace, read_answer(outcome.answer, job));
  if (!collected.empty()) trace.tensors = std::move(collected);
  add_memory(trace, outcome.memory, outcome.run_began);
  return trace;
}

Result<Trace> run_in_browser(Server& server, const HostInfo& host, const BrowserJob& job,
                             const BrowserOptions& options, const BrowserProgressCallback& progress) {
  BrowserSession session(server, host);
  return run_in_browser(session, job, options, progress);
}

Result<NodePrograms> programs_in_browser(PageSession& session, const BrowserJob& job, NodeId node,
                                         const BrowserOptions& options,
                                         const BrowserProgressCallback& progress) {
  DRIFTSCOPE_CHECK(check_browser_model(job.model_name, job.model, job.attachments, options.max_model_bytes));
  DRIFTSCOPE_CHECK(session.prepare(progress));
  messages::Job description = description_of(job, session.host());
  description.stream = false;
  description.programs_of = static_cast<std::int64_t>(node);
  DRIFTSCOPE_TRY(const BrowserOutcome outcome, session.run(content_of(job, description), options, progress));
  auto programs = read_programs(outcome.answer);
  if (!programs.ok()) return in_context(std::move(programs).error(), "what the browser sent");
  return programs;
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

Result<std::vector<Result<Trace>>> run_batch_in_browser(PageSession& session, const BrowserBatch& batch,
                                                        const BrowserOptions& options,
                                                        const BrowserProgressCallback& progress) {
  DRIFTSCOPE_CHECK(session.prepare(progress));
  messages::Job description = job_for(batch.target, session.host());
  description.model.name = batch.name;
  description.batch = static_cast<std::int64_t>(batch.cases);
  JobContent content{json_text(encode(description)), {}, {}, batch.packed};
  DRIFTSCOPE_TRY(const BrowserOutcome outcome, session.run(std::move(content), options, progress));
  return unpack_answers(outcome.answer, batch.cases);
}

}  // namespace driftscope
