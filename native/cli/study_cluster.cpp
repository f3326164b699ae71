#include "native/cli/study_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "core/base/json.hpp"
#include "core/base/sha256.hpp"
#include "core/dataset/npy.hpp"
#include "core/inputs/input_source.hpp"
#include "native/cli/job_campaign.hpp"
#include "native/cli/job_parts.hpp"
#include "native/cli/result_store.hpp"
#include "native/cli/study_adversarials.hpp"
#include "native/cli/study_cell.hpp"
#include "native/cli/study_outlook.hpp"
#include "native/os/files.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr auto cell_limit = std::chrono::hours(1);
constexpr const char* request_name = "request.json";
constexpr const char* samples_name = "samples.npy";

/// What a cell runs on.
struct CellSamples {
  NamedInputs samples;
  std::vector<std::int64_t> labels;
};

struct OutstandingCell {
  StudyCell cell;
  CampaignCell name;
  std::vector<std::int64_t> labels;
  ProgramJob job;
  double begin = 0.0;
  int attempt = 1;
};

class StudyJobs {
 public:
  StudyJobs(const documents::Study& study, StudyFiles& files, CampaignStore& store,
            const StudyRunOptions& options, JobPool& pool, TempFolder folder)
      : store_(store),
        options_(options),
        pool_(pool),
        folder_(std::move(folder)),
        outlook_{study, files},
        schedule_(study, outlook_.samples()),
        targets_(names_in_store(files.targets, options.runner)),
        ledger_(study, targets_),
        kept_(files),
        begin_(seconds_now()) {}
  StudyJobs(const StudyJobs&) = delete;
  StudyJobs& operator=(const StudyJobs&) = delete;

  Result<bool> run() {
    DRIFTSCOPE_CHECK(ledger_.add_all(store_.results()));
    for (;;) {
      // However short the budget is: one cell, so that the same command gets on each time.
      const bool over = options_.stopped() || (begun_ && options_.budget_seconds &&
                                               seconds_now() - begin_ > *options_.budget_seconds);
      bool nothing_left = false;
      while (!over && pool_.room() > 0 && !timing()) {
        const auto cell =
            schedule_.next(ledger_.results(), [&](const StudyCell& one) { return in_use(one); });
        nothing_left = !cell && running_.empty();
        // What measures time is alone. It waits for what runs: nothing of its round is left to run beside it.
        if (!cell || (!running_.empty() && cell->task == StudyTask::times)) break;
        DRIFTSCOPE_CHECK(start(*cell));
      }
      if (running_.empty() && (over || nothing_left)) return nothing_left;
      show();
      DRIFTSCOPE_TRY(const std::vector<ProgramJobResult> ended, pool_.wait(job_look_again));
      for (const ProgramJobResult& result : ended) DRIFTSCOPE_CHECK(keep(result));
    }
  }

 private:
  [[nodiscard]] bool timing() const {
    return !running_.empty() && running_.begin()->second.cell.task == StudyTask::times;
  }

  [[nodiscard]] bool in_use(const StudyCell& cell) const {
    return std::ranges::any_of(running_, [&](const auto& one) { return one.second.cell.same_series(cell); });
  }

  /// The samples of the cell and their labels; of a data set, or adversarials.
  Result<CellSamples> samples_of(const StudyCell& cell) {
    const StudyFiles::Subject& subject = outlook_.files.subjects[cell.subject];
    CellSamples some;
    std::vector<std::int64_t> chosen;
    for (std::int64_t i = 0; i < cell.samples; ++i) chosen.push_back(cell.begin + i);
    if (cell.task == StudyTask::answers && cell.of >= subject.subject.own_data()) {
      const Adversarials made = outlook_.made_for(cell, ledger_.results());
      const AdversarialsKey key{outlook_.base_of(cell.subject),
                                subject.subject.attacks[cell.of - subject.subject.own_data()]};
      DRIFTSCOPE_TRY(some.samples, kept_.inputs(key, made, subject, cell.begin, cell.samples));
      for (std::int64_t& place : chosen) place = made.originals[static_cast<std::size_t>(place)];
      for (const std::int64_t place : chosen)
        some.labels.push_back(subject.data.front().labels[static_cast<std::size_t>(place)]);
      return some;
    }
    if (cell.task == StudyTask::layers) chosen = {outlook_.study.layers[cell.of].sample.value_or(0)};
    const GivenDataset& dataset = subject.data[cell.task == StudyTask::answers ? cell.of : 0];
    DRIFTSCOPE_TRY(some.samples, chosen_items(dataset.stacked, chosen));
    for (const std::int64_t place : chosen)
      some.labels.push_back(dataset.labels[static_cast<std::size_t>(place)]);
    return some;
  }

  const JobPart& model_of(std::size_t subject) {
    const auto known = models_.find(subject);
    if (known != models_.end()) return known->second;
    return models_[subject] = model_part(outlook_.files.subjects[subject].model);
  }

  /// The folder of a cell that is outstanding.
  [[nodiscard]] fs::path folder_of(std::int64_t cell) const { return folder_.path() / std::to_string(cell); }

  Result<ProgramJob> job_of(const OutstandingCell& one, const NamedInputs& samples) {
    const fs::path folder = folder_of(cells_);
    std::error_code error;
    if (!fs::create_directory(folder, error))
      return io_error(fmt::format("cannot make the folder of a cell, {}: {}", folder.string(),
                                  error ? error.message() : "it is there already"));
    const std::string request =
        study_cell_text(study_cell_request(outlook_.study, outlook_.files, one.cell, one.labels, targets_));
    DRIFTSCOPE_TRY(const Bytes npy, write_npy(samples.front().tensor));
    DRIFTSCOPE_CHECK(write_temporary(folder / request_name, request));
    DRIFTSCOPE_CHECK(write_temporary(
        folder / samples_name, std::string_view(reinterpret_cast<const char*>(npy.data()), npy.size())));
    ProgramJob job;
    job.limit = cell_limit;
    const JobPart& model = model_of(one.cell.subject);
    job.key = text_sha256(fmt::format("{}\n{}\n{}\n{}\n{}", model.hash, one.name.target, one.name.item,
                                      request, sha256_hex(npy)));
    job.arguments = {"study-cell", std::string("@{") + request_name + "}", "--model"};
    add_part(job, model);
    job.files[request_name] = folder / request_name;
    job.files[samples_name] = folder / samples_name;
    const auto add = [&](const char* option, const std::string& value) {
      job.arguments.insert(job.arguments.end(), {option, value});
    };
    add("--samples", std::string("@{") + samples_name + "}");
    add("--out", std::string("@{") + job_result_name + "}");
    add("--timeout", std::to_string(options_.runner.timeout.count()));
    if (options_.runner.stall_timeout)
      add("--stall-timeout", std::to_string(options_.runner.stall_timeout->count()));
    return job;
  }

  Status start(const StudyCell& cell) {
    begun_ = true;
    ++cells_;
    OutstandingCell one{.cell = cell, .name = {}, .labels = {}, .job = {}, .begin = seconds_now()};
    one.cell.samples = paces_.samples_at_a_time(cell);
    one.name = {targets_[cell.target],
                cell_item(outlook_.study, outlook_.files.subjects[cell.subject].subject, one.cell)};
    auto samples = samples_of(one.cell);
    // As where cells run here: it is the cell that cannot run.
    if (!samples.ok()) return add(one.name, encode_failure(samples.error()));
    one.labels = std::move(samples->labels);
    DRIFTSCOPE_TRY(one.job, job_of(one, samples->samples));
    return submit(std::move(one));
  }

  Status submit(OutstandingCell one) {
    one.job.id = next_id_++;
    ProgramJob job = one.job;
    running_.emplace(job.id, std::move(one));
    return pool_.submit(std::move(job));
  }

  void show() const {
    std::vector<std::string> titles;
    for (const auto& [id, one] : running_) titles.push_back(outlook_.title(one.cell));
    options_.progress({.what = jobs_text(pool_, titles),
                       .done = schedule_.done(ledger_.results()),
                       .total = schedule_.total(),
                       .seconds_left = seconds_left()});
  }

  [[nodiscard]] std::optional<double> seconds_left() const {
    std::optional<double> seconds = outlook_.seconds_left(schedule_, ledger_.results(), paces_);
    // Cells side by side: so many seconds of them went into one of the clock so far.
    const double elapsed = seconds_now() - begin_;
    if (seconds && elapsed > 0.0) *seconds /= std::max(worked_ / elapsed, 1.0);
    if (!options_.budget_seconds) return seconds;
    const double left = std::max(0.0, *options_.budget_seconds - elapsed);
    return std::min(left, seconds.value_or(left));
  }

  Status keep(const ProgramJobResult& result) {
    auto found = running_.extract(result.id);
    if (found.empty()) return {};
    OutstandingCell& one = found.mapped();
    if (result.error && options_.stopped()) return {};  // it is not the cell that failed
    if (is_lost(result) && one.attempt < most_job_attempts) {
      ++one.attempt;
      return submit(std::move(one));
    }
    worked_ += seconds_now() - one.begin;
    std::error_code ignored;
    fs::remove_all(one.job.files.at(request_name).parent_path(), ignored);
    return add(one.name, line_of(one, result));
  }

  nlohmann::json line_of(const OutstandingCell& one, const ProgramJobResult& result) {
    if (result.error) return encode_failure(*result.error);
    if (result.exit_code != 0 || result.result.empty())
      return encode_failure(internal_error(result.errors.empty()
                                               ? fmt::format("exit code {}", result.exit_code.value_or(-1))
                                               : result.errors));
    auto answer = read_study_answer(result.result, one.cell, one.labels, outlook_.study, outlook_.files);
    if (!answer.ok())
      return encode_failure(in_context(std::move(answer).error(), "the answer of " + result.worker));
    paces_.add(one.cell, answer->seconds);
    return std::move(answer->result);
  }

  Status add(const CampaignCell& cell, const nlohmann::json& result) {
    std::string line = json_text(result);
    DRIFTSCOPE_CHECK(ledger_.add(cell, line));
    return store_.add(cell, std::move(line));
  }

  CampaignStore& store_;
  const StudyRunOptions& options_;
  JobPool& pool_;
  TempFolder folder_;
  StudyOutlook outlook_;
  StudySchedule schedule_;
  std::vector<std::string> targets_;
  StudyLedger ledger_;
  KeptAdversarials kept_;
  StudyPaces paces_;
  std::map<std::size_t, JobPart> models_;  // by subject
  double begin_;
  bool begun_ = false;
  double worked_ = 0.0;  ///< seconds of all cells together
  std::int64_t cells_ = 0;
  std::int64_t next_id_ = 1;
  std::map<std::int64_t, OutstandingCell> running_;  // by the job's id
};

}  // namespace

Result<bool> run_study_jobs(const documents::Study& study, StudyFiles& files, CampaignStore& store,
                            const StudyRunOptions& options, JobPool& pool) {
  DRIFTSCOPE_TRY(TempFolder folder, TempFolder::make());
  return StudyJobs(study, files, store, options, pool, std::move(folder)).run();
}

}  // namespace driftscope
