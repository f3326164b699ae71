#include "native/host/kept_file.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <utility>

#include "native/os/atomic_file.hpp"

namespace driftscope {
namespace {

class FileOutput final : public ArchiveOutput {
 public:
  explicit FileOutput(AtomicFile& file) : file_(file) {}
  Status append(std::span<const std::byte> bytes) override { return file_.append(bytes); }
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    return file_.write_at(static_cast<std::int64_t>(offset), bytes);
  }

 private:
  AtomicFile& file_;
};

struct Mapped {
  MappedFile file;
  KeptComparison comparison;
};

}  // namespace

Status save_kept(const std::filesystem::path& path, const ComparisonView& view, const ModelFile& model,
                 const NamedInputs& inputs, KeepModel keep) {
  KeptSources sources;
  sources.inputs = inputs;
  sources.topology = topology_of(model.graph);
  if (keep == KeepModel::whole) {
    // A model in another format is kept as the ONNX model that ran.
    const std::string name = model.path.filename().string() + (model.kind == "ONNX" ? "" : ".onnx");
    sources.model.push_back({name, *model.bytes});
    for (const JobAttachment& attachment : model.attachments)
      sources.model.push_back({attachment.location, *attachment.bytes});
  }
  DRIFTSCOPE_TRY(AtomicFile file, AtomicFile::create(path));
  FileOutput output(file);
  auto written = write_kept(view, sources, output);
  if (!written.ok()) return in_context(std::move(written).error(), path.string());
  return file.commit();
}

bool is_kept_file(const std::filesystem::path& path) {
  if (path.extension() == kept_extension) return true;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::array<std::byte, 4> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(head.data()), head.size());
  return file.good() && is_archive(head);
}

Result<KeptFile> KeptFile::open(const std::filesystem::path& path) {
  DRIFTSCOPE_TRY(MappedFile file, MappedFile::open(path));
  auto comparison = KeptComparison::open(file.bytes());
  if (!comparison.ok()) return in_context(std::move(comparison).error(), path.string());
  auto mapped = std::make_shared<const Mapped>(Mapped{std::move(file), *std::move(comparison)});
  KeptFile kept;
  kept.path_ = path;
  kept.comparison_ = std::shared_ptr<const KeptComparison>(mapped, &mapped->comparison);
  return kept;
}

Result<ModelFile> KeptFile::model(Weights weights) const {
  const std::vector<ModelPart>& parts = comparison_->model();
  if (parts.empty())
    return missing_error(fmt::format(
        "{}: it was kept without its model ({}, SHA-256 {}…): name the .onnx file "
        "as well",
        path_.string(), comparison_->view().model_name, comparison_->view().model_sha256.substr(0, 12)));
  const auto copy = [](std::span<const std::byte> bytes) {
    return std::make_shared<const Bytes>(bytes.begin(), bytes.end());
  };
  std::vector<JobAttachment> attachments;
  for (const ModelPart& part : std::span(parts).subspan(1))
    attachments.push_back({part.name, copy(part.bytes)});
  auto model =
      load_model_bytes(parts.front().name, copy(parts.front().bytes), std::move(attachments), weights);
  if (!model.ok()) return in_context(std::move(model).error(), path_.string());
  if (model->sha256 != comparison_->view().model_sha256)
    return bad_input(fmt::format("{}: the model in it has the SHA-256 {}…, its comparison is of {}…",
                                 path_.string(), model->sha256.substr(0, 12),
                                 comparison_->view().model_sha256.substr(0, 12)));
  return model;
}

Result<ComparisonView> KeptFile::view() const {
  auto view = comparison_->whole_view();
  if (!view.ok()) return in_context(std::move(view).error(), path_.string());
  return view;
}

GivenInputs kept_inputs(const KeptFile& kept) {
  const ComparisonView& view = kept.comparison().view();
  return {kept.comparison().inputs(), view.input_text, view.input_label};
}

}  // namespace driftscope
