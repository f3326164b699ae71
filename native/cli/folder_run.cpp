#include "native/cli/folder_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "core/base/text.hpp"
#include "core/checks/checks.hpp"
#include "core/folder/answer_drift.hpp"
#include "core/folder/smallest.hpp"
#include "core/folder/variants.hpp"
#include "native/host/inputs.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {
namespace folder_run_parts {
namespace {

namespace fs = std::filesystem;
using documents::FolderCell;
using documents::FolderVariant;

constexpr std::size_t max_files = 100'000;
constexpr std::size_t max_failed_checks = 200;

/// Files of the folder, and of its folders with `deeper`. The error is the system's.
Status list_into(const fs::path& folder, const std::string& prefix, bool deeper,
                 std::vector<std::string>& paths) {
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (paths.size() >= max_files)
      return limit_error(
          fmt::format("{}: more than {} files; name the folder of one model", folder.string(), max_files));
    if (!entry->is_directory(ignored)) {
      paths.push_back(prefix + name);
      continue;
    }
    if (!deeper || name.starts_with('.')) continue;
    const Status inside = list_into(entry->path(), name + "/", false, paths);
    if (!inside.ok() && (name == "onnx" || inside.error().kind == ErrorKind::limit)) return inside;
  }
  if (error) return bad_input(fmt::format("cannot read the folder {}: {}", folder.string(), error.message()));
  return {};
}

Result<FolderListing> listing_of(const FolderRequest& request) {
  std::vector<std::string> paths;
  DRIFTSCOPE_CHECK(list_into(request.folder, "", true, paths));
  FolderListing listing = recognise_variants(paths);
  std::string found;
  for (const std::string& one : listing.not_recognised) found += (found.empty() ? "" : ", ") + one;
  if (listing.parts.empty())
    return bad_input(
        fmt::format("{}: no model whose variants are known by their names; expected files like model.onnx, "
                    "onnx/model_fp16.onnx, onnx/model_q4.onnx in it or in a folder directly inside; found {}",
                    request.folder.string(),
                    found.empty() ? fmt::format("{} files, none of them .onnx", paths.size()) : found));
  if (request.part.empty()) return listing;
  std::string names;
  for (const ListedPart& part : listing.parts) names += (names.empty() ? "" : ", ") + part.name;
  std::erase_if(listing.parts, [&](const ListedPart& part) { return part.name != request.part; });
  if (listing.parts.empty())
    return bad_input(
        fmt::format("--part {}: {} has {}", in_quotes(request.part), request.folder.string(), names));
  return listing;
}

class PartRun {
 public:
  PartRun(const FolderRequest& request, const ListedPart& part, TargetRunner& runner, FolderResults& results)
      : request_(request), part_(part), runner_(runner), results_(results) {}

  Status run() {
    made_.name = part_.name;
    if (part_.variants.front().bits < 32)
      made_.notes.push_back(fmt::format("there is no float32 variant, so the widest one is the reference"));
    for (std::size_t i = 0; i < part_.variants.size(); ++i) DRIFTSCOPE_CHECK(run_variant(i));
    conclude(made_, results_.document);
    results_.document.parts.push_back(std::move(made_));
    return {};
  }

 private:
  Status run_variant(std::size_t i) {
    const VariantFile& file = part_.variants[i];
    FolderVariant variant{.name = file.name, .dtype = file.dtype, .file = file.path};
    const fs::path path = request_.folder / file.path;
    std::error_code unknown;
    if (const auto size = fs::file_size(path, unknown); !unknown)
      variant.bytes = static_cast<std::int64_t>(size);
    if (fs::exists(path, unknown) && !fs::is_regular_file(path, unknown)) {  // a pipe would be waited for
      fail(variant, bad_input(fmt::format("{}: not a file", path.string())));
      made_.variants.push_back(std::move(variant));
      return {};
    }
    auto model = load_model_file(path, Weights::deferred);  // freed before the next one
    if (model.ok()) {
      variant.bytes = model->file_bytes;
      variant.sha256 = model->sha256;
      const Status ran = run_model(*model, i, variant);
      if (!ran.ok() && given_by_user_) return ran;
      if (!ran.ok()) fail(variant, ran.error());
    } else {
      fail(variant, std::move(model).error());
    }
    made_.variants.push_back(std::move(variant));
    return {};
  }

  void fail(FolderVariant& variant, const Error& error) {
    variant.error = error.message;
    results_.exit = exit_of(error);
  }

  /// The first variant that can be read says what all run on.
  Status find_inputs(const ModelFile& model) {
    if (inputs_) return {};
    auto read = read_inputs(request_.compare.inputs, model);
    // What the user gave fits no other variant either; another part has other inputs.
    given_by_user_ = !read.ok() && results_.document.parts.empty() && !request_.compare.inputs.empty();
    if (!read.ok()) return in_context(std::move(read).error(), part_.name);
    inputs_ = *std::move(read);
    made_.input = inputs_->text;
    return {};
  }

  Status run_model(const ModelFile& model, std::size_t i, FolderVariant& variant) {
    DRIFTSCOPE_CHECK(find_inputs(model));
    DRIFTSCOPE_TRY(VariantInputs mine, inputs_of_variant(model.graph, inputs_->tensors));
    variant.inputs = std::move(mine.changes);
    CompareRequest compare = request_.compare;
    compare.inputs.clear();
    compare.sensitivity = SensitivityWanted::never;  // nothing here shows it
    compare.kept_inputs = *inputs_;
    compare.kept_inputs->tensors = std::move(mine.tensors);
    compare.about = fmt::format("{} {} ({} of {}): ", part_.name, variant.name, i + 1, part_.variants.size());
    CompareCommand command(compare, model, runner_);
    DRIFTSCOPE_CHECK(command.read_samples());
    const std::vector<Target> right(request_.targets.begin() + 1, request_.targets.end());
    DRIFTSCOPE_TRY(const ComparisonView view, command.run(request_.targets.front(), right));
    take_reference(model, view, variant.name);
    add_cell(view.left, 0, command, variant);
    for (std::size_t t = 0; t < view.right.size(); ++t) add_cell(view.right[t], t + 1, command, variant);
    add_checks(view, variant.name);
    return {};
  }

  /// The first variant that runs on the first target is what others are compared with.
  void take_reference(const ModelFile& model, const ComparisonView& view, const std::string& name) {
    if (!made_.reference.empty() || view.left.error || !view.left.trace) return;
    auto outputs = outputs_of(model.graph, *view.left.trace);
    if (!outputs.ok()) {
      made_.notes.push_back(fmt::format("{}: {}", name, outputs.error().message));
      return;
    }
    want_ = *std::move(outputs);
    graph_ = model.graph;
    made_.reference = name;
    if (name != part_.variants.front().name)
      made_.notes.push_back(fmt::format("{} did not run on {}, so {} is the reference",
                                        part_.variants.front().name, request_.targets.front().text(), name));
  }

  void add_cell(const TargetResult& result, std::size_t place, const CompareCommand& command,
                FolderVariant& variant) {
    FolderCell cell{.target = result.target};
    if (result.error) {
      cell.error = result.error->message;
      results_.exit = exit_of(*result.error);
    }
    if (result.verification) {
      cell.verdict = verdict_name(result.verification->verdict);
      cell.first_fault = result.verification->first_fault.value_or("");
    }
    if (result.trace) {
      add_answer(*result.trace, cell);
      if (const RunTime time = run_time(result); time.ns > 0.0) {
        cell.run_ns = time.ns;
        cell.time_kind = time_kind_name(time.kind);
      }
      if (const MemoryRecord peak = peak_memory(*result.trace); !peak.kind.empty()) {
        cell.peak_bytes = peak.bytes;
        cell.peak_kind = peak.kind;
      }
    }
    const auto& loads = command.load_times();
    if (place < loads.size() && loads[place]) cell.load_ns = static_cast<double>(loads[place]->count());
    variant.cells.push_back(std::move(cell));
  }

  void add_answer(const Trace& trace, FolderCell& cell) {
    if (!graph_) {
      cell.no_answer =
          fmt::format("no reference: no wider variant ran on {}", request_.targets.front().text());
      return;
    }
    NamedInputs got;
    for (const ValueId id : graph_->outputs)
      if (const Tensor* const found = trace.find(graph_->values[id].name))
        got.push_back({graph_->values[id].name, *found});
    const auto drift = answer_drift(*graph_, want_, got);
    if (!drift.ok()) {
      cell.no_answer = drift.error().message;
      return;
    }
    cell.drift = drift->drift;
    cell.drift_output = drift->output;
    cell.same_prediction = same_answer(drift->agreement);
    if (cell.same_prediction) {
      cell.answers = drift->agreement.answers;
      cell.different = drift->agreement.different;
    }
  }

  void add_checks(const ComparisonView& view, const std::string& name) {
    for (const CheckCase& one : run_checks(view, request_.conditions).cases)
      if (one.outcome == CheckOutcome::failed && results_.document.failed_checks.size() < max_failed_checks)
        results_.document.failed_checks.push_back(
            fmt::format("{} {} on {}: {}: {}", part_.name, name, one.target, one.name, one.message));
  }

  const FolderRequest& request_;
  const ListedPart& part_;
  TargetRunner& runner_;  // of all variants: what it keeps of the page is kept once
  FolderResults& results_;
  documents::FolderPart made_;
  std::optional<GivenInputs> inputs_;
  bool given_by_user_ = false;  // what failed is an input that the user gave
  std::optional<Graph> graph_;  // of the reference
  NamedInputs want_;
};

}  // namespace
}  // namespace folder_run_parts

Result<FolderResults> run_folder(const FolderRequest& request) {
  using namespace folder_run_parts;
  DRIFTSCOPE_TRY(const FolderListing listing, listing_of(request));
  FolderResults results;
  results.document.folder = request.folder.string();
  results.document.reference_target = request.targets.front().text();
  for (const Target& target : request.targets) results.document.targets.push_back(target.text());
  results.document.tolerance = request.tolerance;
  results.document.not_recognised = listing.not_recognised;
  TargetRunner runner(request.compare.runner);
  for (const ListedPart& part : listing.parts)
    DRIFTSCOPE_CHECK(PartRun(request, part, runner, results).run());
  return results;
}

}  // namespace driftscope
