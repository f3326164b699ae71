#include "native/cli/study_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/json.hpp"
#include "core/base/json_fields.hpp"
#include "core/base/json_lists.hpp"
#include "core/base/sha256.hpp"
#include "core/base/text.hpp"
#include "native/campaign/store_kinds.hpp"
#include "native/cli/placed_path.hpp"
#include "native/cli/result_store.hpp"
#include "native/host/mutants_run.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"

namespace driftscope {

namespace fs = std::filesystem;

namespace {

/// The paths in "idx:IMAGES,LABELS" and the like, each where it lies.
Result<std::string> placed_source(const std::string& source, const fs::path& folder,
                                  const RunnerOptions& options) {
  const std::size_t colon = source.find(':');
  if (colon == std::string::npos) return bad_input(in_quotes(source) + " is no data set");
  std::string spec = source.substr(0, colon + 1);
  std::string rest = source.substr(colon + 1);
  for (std::size_t begin = 0;;) {
    const std::size_t comma = std::min(rest.find(',', begin), rest.size());
    DRIFTSCOPE_TRY(const fs::path path, placed_path(rest.substr(begin, comma - begin), folder, options.site));
    spec += path.string();
    if (comma == rest.size()) return spec;
    spec += ',';
    begin = comma + 1;
  }
}

Result<GivenDataset> open_labelled(const std::string& spec, const ModelFile& model) {
  DRIFTSCOPE_TRY(GivenDataset dataset, read_dataset(spec, model));
  if (dataset.labels.empty())
    return bad_input(fmt::format("{} has no labels; accuracy needs the class of each sample", dataset.text));
  return dataset;
}

/// What a manifest must say of the set that is wanted.
struct WantedSet {
  const MutantsPlan& plan;
  const fs::path& folder;

  /// Where the set lies as a data set; nothing: it is not there.
  [[nodiscard]] Result<std::optional<documents::Generated>> found() const {
    const fs::path path = folder / "manifest.json";
    if (!fs::exists(path)) return std::optional<documents::Generated>();
    DRIFTSCOPE_TRY(const Bytes bytes, read_file(path));
    documents::Generated made;
    if (const Status read = read_manifest(bytes, made); !read.ok())
      return in_context(read.error(), path.string());
    const std::string wanted = described(plan.model->sha256, plan.method, plan.criterion, plan.engine,
                                         static_cast<std::int64_t>(plan.seed), plan.count);
    const std::string got = described(made.model_sha256, made.method, made.criterion, made.engine, made.seed,
                                      std::ssize(made.samples));
    if (got != wanted)
      return bad_input(
          fmt::format("{}: the set in this folder was made otherwise: expected {}, found {}; remove "
                      "the folder, or name another --out",
                      folder.string(), wanted, got));
    return std::optional(std::move(made));
  }

 private:
  static std::string described(const std::string& model, const std::string& method,
                               const std::string& criterion, const std::string& engine, std::int64_t seed,
                               std::int64_t count) {
    return fmt::format("{} by {} ({}) on {}, seed {}, model {}", count, method, criterion, engine, seed,
                       model.substr(0, 12));
  }
  static Status read_manifest(const Bytes& bytes, documents::Generated& made) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto document = nlohmann::ordered_json::parse(text, nullptr, false);
    if (!document.is_object()) return bad_input("expected the manifest of a generated set");
    const JsonPath root;
    JsonFields fields(document, root);
    fields.required("model_sha256", made.model_sha256);
    fields.required("method", made.method);
    fields.required("criterion", made.criterion);
    fields.required("engine", made.engine);
    fields.required("seed", made.seed);
    fields.required("generated", made.generated);
    DRIFTSCOPE_CHECK(std::move(fields).status());
    const auto samples = document.find("samples");
    if (samples == document.end() || !samples->is_array()) return bad_input("samples: expected a list");
    made.samples.resize(samples->size());
    return {};
  }
};

/// What results depend on beside models and data.
nlohmann::json attack_fields(const documents::Study& study) {
  nlohmann::json fields = nlohmann::json::object();
  for (const documents::StudyAttack& attack : study.attacks) {
    documents::StudyAttack of = attack;
    of.samples.reset();  // more of them are the same study
    of.models.clear();
    if (of.transfer) of.on = study.targets[making_target(study, attack)];
    fields[attack.name] = nlohmann::json(encode(of));
  }
  return fields;
}

nlohmann::json layer_fields(const documents::Study& study) {
  nlohmann::json fields = nlohmann::json::object();
  for (const documents::PublishedLayers& layers : study.layers) {
    nlohmann::json& own = fields[layers.name] = {layers.model, layers.sample.value_or(0), study.targets[0]};
    for (const documents::PublishedValues& values : layers.layers)
      own.push_back({values.value, values.columns});
  }
  return fields;
}

}  // namespace

std::vector<std::int64_t> StudyFiles::bytes() const {
  std::vector<std::int64_t> bytes;
  for (const Subject& subject : subjects) bytes.push_back(subject.model.file_bytes);
  return bytes;
}

Result<std::shared_ptr<StudyFiles>> open_study_files(const documents::Study& study, const fs::path& folder,
                                                     const RunnerOptions& options) {
  auto files = std::make_shared<StudyFiles>();
  for (const StudySubject& subject : subjects_of(study)) {
    const std::string where = fmt::format("model {}", subject.name());
    const auto path = placed_path(subject.path, folder, options.site);
    if (!path.ok()) return in_context(path.error(), where);
    auto model = load_model_file(*path);
    if (!model.ok()) return in_context(std::move(model).error(), where);
    StudyFiles::Subject opened{subject, *std::move(model), {}};
    for (std::size_t d = 0; d < subject.own_data(); ++d) {
      GivenDataset& dataset = opened.data.emplace_back();
      if (subject.data[d].generated) continue;
      const auto spec = placed_source(subject.data[d].source, folder, options);
      auto read = spec.ok() ? open_labelled(*spec, opened.model) : Result<GivenDataset>(spec.error());
      if (!read.ok())
        return in_context(std::move(read).error(), fmt::format("{}, data {}", where, subject.data[d].name));
      dataset = *std::move(read);
    }
    for (const documents::PublishedLayers& layers : study.layers)
      if (layers.model == subject.model && layers.sample.value_or(0) >= opened.data.front().samples)
        return bad_input(fmt::format("layers {}: sample {}: {} has {}", layers.name, *layers.sample, where,
                                     opened.data.front().samples));
    files->subjects.push_back(std::move(opened));
  }
  for (const std::string& text : study.targets) {
    DRIFTSCOPE_TRY(Target target, read_target(text));
    files->targets.push_back(std::move(target));
  }
  return files;
}

Status make_study_data(
    StudyFiles& files, const fs::path& folder, const RunnerOptions& options,
    const std::function<void(const std::string& what, std::int64_t made, std::int64_t all)>& progress,
    const std::function<bool()>& stopped) {
  for (StudyFiles::Subject& subject : files.subjects) {
    if (!subject.subject.is_base()) continue;
    for (std::size_t d = 0; d < subject.subject.own_data(); ++d) {
      const documents::StudyData& data = subject.subject.data[d];
      if (!data.generated) continue;
      const documents::StudyGenerated& how = *data.generated;
      const auto original =
          how.of.empty() ? subject.subject.data.begin()
                         : std::ranges::find(subject.subject.data, how.of, &documents::StudyData::name);
      const std::string where = fmt::format("{}, data {}", subject.subject.name(), data.name);
      MutantsPlan plan;
      plan.model = &subject.model;
      DRIFTSCOPE_TRY(plan.dataset, placed_source(original->source, folder, options));
      plan.method = how.method;
      plan.criterion = how.criterion;
      if (!how.engine.empty()) plan.engine = how.engine;
      plan.count = how.count;
      plan.seed = static_cast<std::uint64_t>(how.seed.value_or(42));
      plan.progress = [&](std::int64_t made) { progress("generating " + where, made, how.count); };
      plan.stopped = stopped;
      DRIFTSCOPE_CHECK(check_mutants_plan(plan));
      const fs::path set = files.out / "generated" / fmt::format("{}-{}", subject.subject.model, data.name);
      DRIFTSCOPE_TRY(auto made, (WantedSet{plan, set}.found()));
      if (!made) {
        auto generated = generate_set(plan, set);
        if (!generated.ok()) return in_context(std::move(generated).error(), where);
        made = std::move(generated->manifest);
      }
      const std::string spec = generated_dataset(*made, set);
      // Variants have the same set, each by its own description.
      for (StudyFiles::Subject& one : files.subjects) {
        if (one.subject.model != subject.subject.model) continue;
        auto read = open_labelled(spec, one.model);
        if (!read.ok()) return in_context(std::move(read).error(), where);
        one.data[d] = *std::move(read);
        if (one.data[d].samples != how.count)
          return bad_input(fmt::format("{}: expected {} samples, found {}; remove the folder {}", where,
                                       how.count, one.data[d].samples, set.string()));
      }
    }
  }
  return {};
}

Result<std::unique_ptr<CampaignStore>> open_study_store(const documents::Study& study,
                                                        const StudyFiles& files,
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
  if (!study.attacks.empty()) fields["attacks"] = attack_fields(study);
  if (!study.layers.empty()) fields["layers"] = layer_fields(study);
  auto store = open_result_store(file_store_spec(files.out / study_store_name), "study", std::move(fields),
                                 options.site);
  if (store.ok()) return store;
  // Here the option is another one.
  Error error = std::move(store).error();
  constexpr std::string_view option = "--store ";
  if (error.message.starts_with(option)) error.message.replace(0, option.size(), "--out: ");
  return error;
}

}  // namespace driftscope
