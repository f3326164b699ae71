#include "native/cli/matrix_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/dataset/dataset.hpp"
#include "core/trace/capture_filter.hpp"
#include "native/cli/placed_path.hpp"
#include "native/cli/result_store.hpp"
#include "native/host/host.hpp"
#include "native/host/inputs.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"
#include "native/text/yaml.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_models = 10'000;

/// Where a path of the matrix's file lies.
using Place = std::function<Result<fs::path>(std::string_view path)>;

/// "models/*.onnx": the files that fit, by name.
Result<std::vector<fs::path>> matching_files(const fs::path& pattern) {
  const std::string name = pattern.filename().string();
  if (name.find('*') == std::string::npos) return std::vector<fs::path>{pattern};
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator entry(pattern.parent_path(), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    if (entry->is_regular_file(error) && glob_matches(name, entry->path().filename().string()))
      found.push_back(entry->path());
  if (error) return bad_input(fmt::format("{}: {}", pattern.parent_path().string(), error.message()));
  if (found.empty()) return bad_input(fmt::format("{}: no file fits", pattern.string()));
  std::ranges::sort(found);
  return found;
}

/// Every model a file with a name, each name once.
Status expand_models(documents::Matrix& matrix, const Place& place) {
  std::vector<documents::MatrixModel> all;
  std::set<std::string> names;
  for (std::size_t i = 0; i < matrix.models.size(); ++i) {
    const documents::MatrixModel& given = matrix.models[i];
    const std::string where = fmt::format("models[{}].path", i);
    const auto pattern = place(given.path);
    if (!pattern.ok()) return in_context(pattern.error(), where);
    const auto found = matching_files(*pattern);
    if (!found.ok()) return in_context(found.error(), where);
    for (const fs::path& file : *found) {
      documents::MatrixModel& model = all.emplace_back(given);
      model.path = file.string();
      if (given.name.empty()) model.name = harmless(file.stem().string());
      if (!names.insert(model.name).second)
        return bad_input(
            fmt::format("models[{}].name: {} is the name of two models", i, in_quotes(model.name)));
      if (all.size() > most_models) return limit_error(fmt::format("models: more than {}", most_models));
    }
  }
  matrix.models = std::move(all);
  return {};
}

/// An option of inputs with its paths: as they lie here, and as a job has them.
struct PlacedSpec {
  std::string here;
  std::string in_job;
};

class SpecReader {
 public:
  SpecReader(const Place& place, JobPart& part) : place_(place), part_(part) {}

  Result<PlacedSpec> read(const std::string& spec) {
    if (is_dataset_spec(spec)) return dataset(spec);
    DRIFTSCOPE_TRY(const fs::path whole, place_(spec));
    std::error_code ignored;
    if (fs::exists(whole, ignored)) return PlacedSpec{whole.string(), add(whole)};
    const std::size_t equals = spec.find('=');
    if (equals == std::string::npos || spec.starts_with("shape:") || spec.starts_with("dim:"))
      return PlacedSpec{spec, spec};
    const std::string name = spec.substr(0, equals + 1);
    DRIFTSCOPE_TRY(const PlacedSpec source, read(spec.substr(equals + 1)));
    return PlacedSpec{name + source.here, name + source.in_job};
  }

 private:
  /// "idx:IMAGES,LABELS#17".
  Result<PlacedSpec> dataset(const std::string& spec) {
    const std::size_t colon = spec.find(':');
    const std::size_t hash = std::min(spec.rfind('#'), spec.size());
    PlacedSpec placed{spec.substr(0, colon + 1), spec.substr(0, colon + 1)};
    for (std::size_t begin = colon + 1; begin <= hash;) {
      const std::size_t end = std::min(spec.find(',', begin), hash);
      DRIFTSCOPE_TRY(const fs::path path, place_(spec.substr(begin, end - begin)));
      const char* const comma = begin == colon + 1 ? "" : ",";
      placed.here += comma + path.string();
      placed.in_job += comma + add(path);
      begin = end + 1;
    }
    placed.here += spec.substr(hash);
    placed.in_job += spec.substr(hash);
    return placed;
  }

  std::string add(const fs::path& path) {
    const std::string name = fmt::format("data/{}/{}", part_.files.size() + part_.folders.size(),
                                         path.filename().generic_string());
    std::error_code ignored;
    (fs::is_directory(path, ignored) ? part_.folders : part_.files)[name] = path;
    return "@{" + name + "}";
  }

  const Place& place_;
  JobPart& part_;
};

Result<JobPart> input_part(const documents::MatrixModel& described, const documents::MatrixData& data,
                           const ModelFile& model, const Place& place) {
  JobPart part;
  SpecReader reader(place, part);
  std::vector<std::string> here;
  for (const auto* const some : {&described.input, &data.input})
    for (const std::string& spec : *some) {
      DRIFTSCOPE_TRY(PlacedSpec placed, reader.read(spec));
      here.push_back(placed.here);
      part.arguments.insert(part.arguments.end(), {"--input", placed.in_job});
    }
  DRIFTSCOPE_TRY(const GivenInputs inputs, read_inputs(here, model));
  std::string hash = hashes_of(inputs.tensors);
  if (!data.dataset.empty()) {
    DRIFTSCOPE_TRY(const PlacedSpec placed, reader.read(data.dataset));
    part.arguments.insert(part.arguments.end(), {"--dataset", placed.in_job});
    DRIFTSCOPE_TRY(const GivenDataset dataset, read_dataset(placed.here, model));
    hash += hashes_of(dataset.stacked) + fmt::format("{}", fmt::join(dataset.labels, ","));
  }
  part.hash = text_sha256(hash);
  return part;
}

std::string hash_of_run(documents::MatrixRun run) {
  run.timeout.reset();  // what takes longer is no result
  run.cell_seconds.reset();
  return text_sha256(json_text(encode(run)));
}

/// With the line of the path that an error begins with.
Error with_line(const YamlDocument& document, const fs::path& file, const Error& error) {
  const std::string_view message = error.message;
  return {error.kind, fmt::format("{}: line {}: {}", file.string(),
                                  document.line_of(message.substr(0, message.find(':'))), message)};
}

Result<YamlDocument> read_document(const fs::path& path) {
  DRIFTSCOPE_TRY(const Bytes bytes, read_file(path));
  auto document = read_yaml({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!document.ok()) return in_context(std::move(document).error(), path.string());
  return document;
}

Status name_targets(MatrixFiles& files, const RunnerOptions& runner) {
  files.left = files.matrix.left.empty() ? default_target() : files.matrix.left;
  std::vector<Target> targets;
  DRIFTSCOPE_TRY(targets.emplace_back(), read_target(files.left));
  for (const std::string& text : files.targets) {
    DRIFTSCOPE_TRY(targets.emplace_back(), read_target(text));
  }
  files.stored_targets = names_in_store(targets, runner);
  return {};
}

}  // namespace

Result<MatrixFiles> open_matrix(
    const fs::path& path, const RunnerOptions& runner,
    const std::function<void(const std::string& step, std::int64_t done, std::int64_t total)>& step) {
  DRIFTSCOPE_TRY(const YamlDocument document, read_document(path));
  MatrixFiles files;
  const Place place = [&](std::string_view one) { return placed_path(one, path.parent_path(), runner.site); };
  const Status read = [&]() -> Status {
    DRIFTSCOPE_TRY(files.matrix, read_matrix(document.value));
    DRIFTSCOPE_TRY(files.targets, targets_of(files.matrix));
    DRIFTSCOPE_CHECK(expand_models(files.matrix, place));
    DRIFTSCOPE_TRY(files.cells, cells_of(files.matrix, files.targets));
    return name_targets(files, runner);
  }();
  if (!read.ok()) return with_line(document, path, read.error());
  files.run_hash = hash_of_run(*files.matrix.run);
  const std::size_t models = files.matrix.models.size();
  files.models.resize(models);
  files.inputs.assign(models, std::vector<JobPart>(files.matrix.data.size()));
  for (std::size_t m = 0; m < models; ++m) {
    const documents::MatrixModel& described = files.matrix.models[m];
    step("reading " + described.name, static_cast<std::int64_t>(m), static_cast<std::int64_t>(models));
    auto model = load_model_file(described.path, Weights::deferred);
    if (!model.ok()) return in_context(std::move(model).error(), "model " + described.name);
    files.models[m] = model_part(*model);
    std::vector<bool> wanted(files.matrix.data.size());
    for (const MatrixPlace& cell : files.cells)
      if (cell.model == m) wanted[cell.data] = true;
    for (std::size_t d = 0; d < wanted.size(); ++d) {
      if (!wanted[d]) continue;
      auto part = input_part(described, files.matrix.data[d], *model, place);
      if (!part.ok())
        return in_context(std::move(part).error(),
                          fmt::format("model {} on {}", described.name, name_of(files.matrix.data[d])));
      files.inputs[m][d] = *std::move(part);
    }
  }
  return files;
}

std::string key_of(const MatrixFiles& files, const MatrixPlace& cell) {
  const JobPart& model = files.models[cell.model];
  const JobPart& input = files.inputs[cell.model][cell.data];
  // Names of files are in the comparison.
  return text_sha256(fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n", model.hash, fmt::join(model.arguments, " "),
                                 input.hash, fmt::join(input.arguments, " "), files.stored_targets.front(),
                                 files.stored_targets[cell.target + 1], files.run_hash));
}

ProgramJob job_of(const MatrixFiles& files, const MatrixPlace& cell) {
  const documents::MatrixRun& run = *files.matrix.run;
  ProgramJob job;
  job.key = key_of(files, cell);
  job.limit = std::chrono::seconds(run.cell_seconds.value_or(default_cell_seconds));
  job.arguments = {"compare"};
  add_part(job, files.models[cell.model]);
  add_part(job, files.inputs[cell.model][cell.data]);
  const auto add = [&job](const char* option, const std::string& value) {
    job.arguments.insert(job.arguments.end(), {option, value});
  };
  add("--left", files.left);
  add("--right", files.targets[cell.target]);
  add("--json", std::string("@{") + job_result_name + "}");
  add("--fail-on", run.fail_on.empty() ? "fault" : run.fail_on);
  if (run.repeat) add("--repeat", std::to_string(*run.repeat));
  if (run.times) add("--times", fmt::format("{}", *run.times));
  if (!run.trace.empty()) add("--trace", run.trace);
  if (run.repeat_check) add("--repeat-check", std::to_string(*run.repeat_check));
  if (run.memory_runs) add("--memory-runs", std::to_string(*run.memory_runs));
  if (run.timeout) add("--timeout", std::to_string(*run.timeout));
  job.arguments.emplace_back("--quiet");
  return job;
}

}  // namespace driftscope
