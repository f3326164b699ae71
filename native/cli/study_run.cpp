#include "native/cli/study_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/json.hpp"
#include "core/base/sha256.hpp"
#include "core/base/text.hpp"
#include "core/compare/dataset_predictions.hpp"
#include "core/inputs/input_source.hpp"
#include "core/protocol/sample_run.hpp"
#include "core/results/comparison_view.hpp"
#include "core/results/run_times.hpp"
#include "native/cli/result_store.hpp"
#include "native/host/attack_run.hpp"
#include "native/host/inputs.hpp"
#include "native/host/target_runner.hpp"
#include "native/host/targets.hpp"
#include "native/platform/site.hpp"

namespace driftscope {

namespace fs = std::filesystem;

class StudyFiles {
 public:
  struct Subject {
    StudySubject subject;
    ModelFile model;
    std::vector<GivenDataset> data;
  };
  std::vector<Subject> subjects;
  std::vector<Target> targets;
};

namespace {

constexpr std::string_view shipped_prefix = "shipped:";
/// How long one cell may take, roughly: so much is lost with the process.
constexpr double cell_seconds = 8.0;
constexpr std::int64_t first_samples = 8;
constexpr std::int64_t first_attacked = 4;
constexpr std::int64_t time_ms = 1000;
/// Outputs of a sample are kept up to so many numbers.
constexpr std::int64_t most_outputs = 1024;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// shipped:models/lenet5.onnx in the page's folder; others in the study's.
Result<fs::path> placed(std::string_view path, const fs::path& folder, const RunnerOptions& options) {
  if (!path.starts_with(shipped_prefix)) return folder / fs::path(path);
  DRIFTSCOPE_TRY(const fs::path site, find_site(options.site));
  return site / "assets" / fs::path(path.substr(shipped_prefix.size()));
}

/// The paths in "idx:IMAGES,LABELS" and the like, each where it lies.
Result<std::string> placed_source(const std::string& source, const fs::path& folder,
                                  const RunnerOptions& options) {
  const std::size_t colon = source.find(':');
  if (colon == std::string::npos) return bad_input(in_quotes(source) + " is no data set");
  std::string spec = source.substr(0, colon + 1);
  std::string rest = source.substr(colon + 1);
  for (std::size_t begin = 0;;) {
    const std::size_t comma = std::min(rest.find(',', begin), rest.size());
    DRIFTSCOPE_TRY(const fs::path path, placed(rest.substr(begin, comma - begin), folder, options));
    spec += path.string();
    if (comma == rest.size()) return spec;
    spec += ',';
    begin = comma + 1;
  }
}

Result<GivenDataset> open_data(const documents::StudyData& data, const ModelFile& model,
                               const fs::path& folder, const RunnerOptions& options) {
  DRIFTSCOPE_TRY(const std::string spec, placed_source(data.source, folder, options));
  DRIFTSCOPE_TRY(GivenDataset dataset, read_dataset(spec, model));
  if (dataset.labels.empty())
    return bad_input(fmt::format("{} has no labels; accuracy needs the class of each sample", dataset.text));
  return dataset;
}

/// Of a cell; written when it is over.
class Cell {
 public:
  Cell(const documents::Study& study, StudyFiles& files, const StudyRunOptions& options)
      : study_(study), files_(files), options_(options), runner_(options.runner) {}

  /// The name of the cell's result, and the result.
  std::pair<std::string, nlohmann::json> run(const StudyCell& cell, const TargetProgress& progress) {
    StudyFiles::Subject& subject = files_.subjects[cell.subject];
    if (!cell.data && !cell.attack) {
      runner_.rest();  // what is measured begins with the start of the browser
      const std::string name = times_cell(subject.subject, cell.repetition);
      const auto times = measure(subject, files_.targets[cell.target], progress);
      runner_.rest();
      return {name, times.ok() ? encode_result(*times) : encode_failure(times.error())};
    }
    if (cell.attack) return attack(cell, progress);
    const std::int64_t samples = std::min(cell.samples, samples_at_a_time(cell));
    const std::string name =
        answers_cell(subject.subject, subject.subject.data[*cell.data], cell.begin, samples);
    const double begin = now_seconds();
    const auto part =
        answer(subject, subject.data[*cell.data], files_.targets[cell.target], cell.begin, samples, progress);
    paces_[{cell.subject, cell.target}] = {samples, now_seconds() - begin};
    return {name, part.ok() ? encode_result(*part) : encode_failure(part.error())};
  }

  [[nodiscard]] std::optional<double> seconds_per_sample(std::size_t subject, std::size_t target) const {
    const auto pace = paces_.find({subject, target});
    if (pace == paces_.end()) return {};
    return pace->second.second / static_cast<double>(pace->second.first);
  }

 private:
  /// As many as fit into cell_seconds by the last cell of this subject on this target.
  std::int64_t samples_at_a_time(const StudyCell& cell) const {
    const auto pace = paces_.find({cell.subject, cell.target});
    if (pace == paces_.end()) return first_samples;
    const auto [samples, seconds] = pace->second;
    const double fitting = static_cast<double>(samples) * cell_seconds / std::max(seconds, 1e-3);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(fitting), 1, samples * 8);
  }

  std::pair<std::string, nlohmann::json> attack(const StudyCell& cell, const TargetProgress& progress) {
    const StudyFiles::Subject& subject = files_.subjects[cell.subject];
    const documents::StudyAttack& wanted = study_.attacks[*cell.attack];
    auto& pace = attack_paces_[{cell.subject, *cell.attack, cell.target}];
    const std::int64_t samples = std::min(
        cell.samples,
        pace.first == 0 ? first_attacked
                        : std::clamp<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(pace.first) *
                                                                             cell_seconds / pace.second),
                                                   1, 8 * pace.first));
    const std::string name = attack_cell(subject.subject, wanted, cell.begin, samples);
    const double begin = now_seconds();
    const auto part = attacked(subject, wanted, files_.targets[cell.target], cell.begin, samples, progress);
    pace = {samples, std::max(1e-3, now_seconds() - begin)};
    return {name, part.ok() ? encode_result(*part) : encode_failure(part.error())};
  }

  Result<AttackPart> attacked(const StudyFiles::Subject& subject, const documents::StudyAttack& wanted,
                              const Target& target, std::int64_t begin, std::int64_t samples,
                              const TargetProgress& progress) const {
    const GivenDataset& all = subject.data.front();
    std::vector<std::int64_t> chosen(static_cast<std::size_t>(samples));
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = begin + static_cast<std::int64_t>(i);
    GivenDataset some = all;
    DRIFTSCOPE_TRY(some.stacked, chosen_items(all.stacked, chosen));
    some.samples = samples;
    some.labels.assign(all.labels.begin() + begin, all.labels.begin() + begin + samples);
    AttackPlan plan;
    plan.model = &subject.model;
    DRIFTSCOPE_TRY(plan.method, find_attack_method(wanted.method));
    plan.dataset = &some;
    plan.targets = {target};
    plan.samples = samples;
    plan.epsilon = wanted.epsilon.value_or(0.0);
    plan.steps = wanted.steps.value_or(0);
    plan.seed += static_cast<std::uint64_t>(begin);  // parts are attacked apart
    AttackPart part{.begin = begin, .samples = samples};
    auto report = run_attack(plan, options_.runner, progress);
    if (!report.ok()) return std::move(report).error();
    for (const AttackOutcome& outcome : report->targets.front().outcomes) {
      ++part.attacked;
      part.successes += outcome.success ? 1 : 0;
      part.queries += outcome.queries;
    }
    return part;
  }

  Result<AnswersPart> answer(const StudyFiles::Subject& subject, const GivenDataset& dataset,
                             const Target& target, std::int64_t begin, std::int64_t samples,
                             const TargetProgress& progress) {
    std::vector<std::int64_t> chosen(static_cast<std::size_t>(samples));
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = begin + static_cast<std::int64_t>(i);
    RunRequest request;
    request.model = &subject.model;
    request.plan.samples = samples;
    request.plan.capture = messages::Capture::outputs;
    request.stopped = options_.stopped;
    DRIFTSCOPE_TRY(request.inputs, chosen_items(dataset.stacked, chosen));
    DRIFTSCOPE_TRY(const Trace trace, runner_.run(target, request, progress));
    AnswersPart part;
    part.begin = begin;
    DRIFTSCOPE_TRY(part.predictions, predicted_classes(subject.model.graph, trace, samples, target.text()));
    const auto first = dataset.labels.begin() + begin;
    part.labels.assign(first, first + samples);
    const Tensor* const output =
        trace.find(subject.model.graph.values[subject.model.graph.outputs.front()].name);
    if (output != nullptr && output->dtype() == DType::float32 &&
        element_count(output->shape()) / samples <= most_outputs)
      for (const float value : output->values<float>()) part.outputs.push_back(value);
    return part;
  }

  Result<SessionTimes> measure(const StudyFiles::Subject& subject, const Target& target,
                               const TargetProgress& progress) {
    RunRequest request;
    request.model = &subject.model;
    request.plan.capture = messages::Capture::outputs;
    request.plan.unwatched_ms = time_ms;
    request.stopped = options_.stopped;
    DRIFTSCOPE_TRY(request.inputs, sample_inputs(subject));
    const double begin = now_seconds();
    std::optional<double> running;
    DRIFTSCOPE_TRY(
        const Trace trace,
        runner_.run(target, request, [&](std::string_view step, std::int64_t done, std::int64_t total) {
          if (!running && step == "running") running = now_seconds();
          progress(step, done, total);
        }));
    const RunTime time = run_time(trace);
    if (time.kind != TimeKind::unwatched)
      return unsupported(fmt::format("its time could not be measured: {}", time.error));
    SessionTimes times;
    times.median_s = time.ns * 1e-9;
    times.first_s = time.first_ns * 1e-9;
    times.load_s = running.value_or(now_seconds()) - begin;
    const MemoryRecord peak = peak_memory(trace);
    if (!peak.kind.empty()) times.memory_bytes = peak.bytes, times.memory_kind = peak.kind;
    return times;
  }

  /// The first sample, without the leading axis.
  static Result<NamedInputs> sample_inputs(const StudyFiles::Subject& subject) {
    return slice_sample(subject.data.front().stacked, 0);
  }

  const documents::Study& study_;
  StudyFiles& files_;
  const StudyRunOptions& options_;
  TargetRunner runner_;
  std::map<std::pair<std::size_t, std::size_t>, std::pair<std::int64_t, double>> paces_;
  std::map<AttackKey, std::pair<std::int64_t, double>> attack_paces_;  ///< by subject, attack, target
};

/// From the paces so far, where every target has one.
std::optional<double> time_left(const documents::Study& study, const StudyFiles& files,
                                const StudyResults& results, const Cell& cells) {
  double seconds = 0.0;
  for (std::size_t s = 0; s < files.subjects.size(); ++s)
    for (std::size_t t = 0; t < files.targets.size(); ++t)
      for (std::size_t d = 0; d < files.subjects[s].data.size(); ++d) {
        const auto found = results.answers.find({s, d, t});
        if (found != results.answers.end() && found->second.error) continue;
        const auto pace = cells.seconds_per_sample(s, t);
        if (!pace) return {};
        const std::int64_t done = found == results.answers.end() ? 0 : found->second.samples();
        const std::int64_t all = files.subjects[s].data[d].samples;
        seconds += *pace * static_cast<double>(std::min(all, study.samples.value_or(all)) - done);
      }
  return seconds;
}

StudySchedule schedule_of(const documents::Study& study, const StudyFiles& files) {
  std::vector<std::vector<std::int64_t>> samples;
  for (const StudyFiles::Subject& subject : files.subjects) {
    samples.emplace_back();
    for (const GivenDataset& dataset : subject.data) samples.back().push_back(dataset.samples);
  }
  return {study, std::move(samples)};
}

}  // namespace

Result<std::shared_ptr<StudyFiles>> open_study_files(const documents::Study& study, const fs::path& folder,
                                                     const RunnerOptions& options) {
  auto files = std::make_shared<StudyFiles>();
  for (const StudySubject& subject : subjects_of(study)) {
    const std::string where = fmt::format("model {}", subject.name());
    const auto path = placed(subject.path, folder, options);
    if (!path.ok()) return in_context(path.error(), where);
    auto model = load_model_file(*path);
    if (!model.ok()) return in_context(std::move(model).error(), where);
    StudyFiles::Subject opened{subject, *std::move(model), {}};
    for (const documents::StudyData& data : subject.data) {
      auto dataset = open_data(data, opened.model, folder, options);
      if (!dataset.ok())
        return in_context(std::move(dataset).error(), fmt::format("{}, data {}", where, data.name));
      opened.data.push_back(*std::move(dataset));
    }
    files->subjects.push_back(std::move(opened));
  }
  for (const std::string& text : study.targets) {
    DRIFTSCOPE_TRY(Target target, read_target(text));
    files->targets.push_back(std::move(target));
  }
  return files;
}

Result<std::unique_ptr<CampaignStore>> open_study_store(const documents::Study& study,
                                                        const StudyFiles& files, const fs::path& out,
                                                        const RunnerOptions& options) {
  nlohmann::json fields = {{"study", study.name}};
  // Other models or data under the same names are another study; more targets or samples are the same one.
  nlohmann::json subjects = nlohmann::json::object();
  for (const StudyFiles::Subject& subject : files.subjects) {
    std::string hashes = hashes_of(subject.model);
    for (const GivenDataset& dataset : subject.data) hashes += hashes_of(dataset.stacked);
    subjects[subject.subject.model + "/" + subject.subject.variant] =
        sha256_hex(std::as_bytes(std::span(hashes)));
  }
  fields["subjects"] = std::move(subjects);
  auto store = open_result_store(out / study_store_name, "study", std::move(fields), options.site);
  if (store.ok()) return store;
  // Here the option is another one.
  Error error = std::move(store).error();
  constexpr std::string_view option = "--store ";
  if (error.message.starts_with(option)) error.message.replace(0, option.size(), "--out: ");
  return error;
}

Result<bool> run_study(const documents::Study& study, StudyFiles& files, CampaignStore& store,
                       const StudyRunOptions& options) {
  const StudySchedule schedule = schedule_of(study, files);
  const std::vector<std::string> targets = names_in_store(files.targets);
  Cell cells(study, files, options);
  const double begin = now_seconds();
  for (;;) {
    DRIFTSCOPE_TRY(const StudyResults results, read_study_results(study, targets, store.results()));
    const auto cell = schedule.next(results);
    if (!cell) return true;
    if (options.stopped() || (options.budget_seconds && now_seconds() - begin > *options.budget_seconds))
      return false;
    StudyProgress progress{.what = {},
                           .done = schedule.done(results),
                           .total = schedule.total(),
                           .seconds_left = time_left(study, files, results, cells)};
    if (options.budget_seconds) {
      const double left = std::max(0.0, *options.budget_seconds - (now_seconds() - begin));
      progress.seconds_left = std::min(left, progress.seconds_left.value_or(left));
    }
    const StudySubject& subject = files.subjects[cell->subject].subject;
    auto [name, result] = cells.run(*cell, [&](std::string_view step, std::int64_t, std::int64_t) {
      progress.what = fmt::format("{}: {}{}: {}", study.targets[cell->target], subject.name(),
                                  cell->data     ? ", " + subject.data[*cell->data].name
                                  : cell->attack ? ", " + study.attacks[*cell->attack].name
                                                 : "",
                                  step);
      options.progress(progress);
    });
    if (options.stopped()) return false;  // it is not the cell that failed
    DRIFTSCOPE_CHECK(store.add({targets[cell->target], name}, json_text(result)));
  }
}

std::vector<std::int64_t> study_file_bytes(const StudyFiles& files) {
  std::vector<std::int64_t> bytes;
  for (const StudyFiles::Subject& subject : files.subjects) bytes.push_back(subject.model.file_bytes);
  return bytes;
}

}  // namespace driftscope
