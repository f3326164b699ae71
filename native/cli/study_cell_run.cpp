// A cell of a study in a process of its own.
#include <fmt/format.h>

#include "core/base/json.hpp"
#include "core/dataset/npy.hpp"
#include "native/cli/result_store.hpp"
#include "native/cli/study_cell.hpp"
#include "native/cli/study_work.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

Result<GivenDataset> read_samples(const fs::path& path, const StudyCellRequest& request, const Graph& graph) {
  if (graph.inputs.size() != 1)
    return unsupported(
        fmt::format("the model has {} inputs; a data set feeds exactly one", graph.inputs.size()));
  DRIFTSCOPE_TRY(const Bytes bytes, read_file(path));
  DRIFTSCOPE_TRY(Tensor tensor, read_npy(bytes));
  const std::int64_t samples = std::ssize(request.labels);
  if (tensor.shape().empty() || tensor.shape()[0] != samples)
    return bad_input(fmt::format("{}: expected {} samples, as there are labels, got the shape {}",
                                 path.string(), samples, shape_text(tensor.shape())));
  GivenDataset dataset;
  dataset.stacked = {{graph.values[graph.inputs.front()].name, std::move(tensor)}};
  dataset.samples = samples;
  dataset.labels = request.labels;
  dataset.text = "samples of a study";
  return dataset;
}

Result<std::string> adversarials_of(const StudyWork::Outcome& outcome, const fs::path& folder) {
  const auto file = outcome.result.find("file");
  if (outcome.failed || file == outcome.result.end()) return std::string();
  DRIFTSCOPE_TRY(const Bytes bytes, read_inside(folder, file->get<std::string>()));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

Result<std::string> run_study_cell(const StudyCellRequest& request, const fs::path& model,
                                   const fs::path& samples, const RunnerOptions& options) {
  DRIFTSCOPE_TRY(const TempFolder folder, TempFolder::make());
  StudyFiles files;
  files.out = folder.path();
  DRIFTSCOPE_TRY(ModelFile opened, load_model_file(model));
  DRIFTSCOPE_TRY(GivenDataset dataset, read_samples(samples, request, opened.graph));
  StudyFiles::Subject& subject = files.subjects.emplace_back(
      StudyFiles::Subject{subjects_of(request.study).front(), std::move(opened), {}});
  subject.data.push_back(std::move(dataset));
  for (const std::string& text : request.study.targets) {
    DRIFTSCOPE_TRY(Target target, read_target(text));
    files.targets.push_back(std::move(target));
  }
  DRIFTSCOPE_CHECK(check_names(request.names, files.targets, options));
  StudyWork work(request.study, files, options, [] { return false; });
  const StudyCell cell{
      .task = request.task, .target = request.target, .samples = std::ssize(request.labels), .repetition = 1};
  const StudyWork::Outcome outcome = work.run(cell, {}, [](std::string_view, std::int64_t, std::int64_t) {});
  work.rest();
  DRIFTSCOPE_TRY(const std::string bytes, adversarials_of(outcome, files.out));
  return json_text(nlohmann::json{{"result", outcome.result}, {"seconds", outcome.seconds}}) + "\n" + bytes;
}

}  // namespace driftscope
