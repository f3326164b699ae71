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

/// The writer puts the index first, whose name follows the first header.
constexpr std::size_t local_header_bytes = 30;

}  // namespace

struct KeptFile::Mapped {
  MappedFile file;
  KeptComparison comparison;
};

Status save_kept(const std::filesystem::path& path, const ComparisonView& view, const ModelFile& model,
                 const NamedInputs& inputs, KeepModel keep) {
  KeptSources sources;
  sources.inputs = inputs;
  sources.topology = topology_of(model.graph);
  if (keep == KeepModel::whole) {
    // A model in another format is kept as the ONNX model that ran.
    sources.model.push_back({model.name + (model.kind == "ONNX" ? "" : ".onnx"), model.bytes.bytes()});
    for (const JobAttachment& attachment : model.attachments)
      sources.model.push_back({attachment.location, attachment.bytes.bytes()});
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
  std::array<std::byte, local_header_bytes + kept_index_name.size()> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(head.data()), head.size());
  const std::string_view name(reinterpret_cast<const char*>(head.data()) + local_header_bytes,
                              kept_index_name.size());
  return file.good() && is_archive(head) && name == kept_index_name;
}

Result<KeptFile> KeptFile::open(const std::filesystem::path& path) {
  DRIFTSCOPE_TRY(MappedFile file, MappedFile::open(path));
  auto comparison = KeptComparison::open(file.bytes());
  if (!comparison.ok()) return in_context(std::move(comparison).error(), path.string());
  KeptFile kept;
  kept.path_ = path;
  kept.mapped_ = std::make_shared<const Mapped>(Mapped{std::move(file), *std::move(comparison)});
  return kept;
}

const KeptComparison& KeptFile::comparison() const { return mapped_->comparison; }

void KeptFile::release() const { mapped_->file.release(); }

Result<ModelFile> KeptFile::model(Weights weights) const {
  const std::vector<ModelPart>& parts = comparison().model();
  if (parts.empty())
    return missing_error(fmt::format(
        "{}: it was kept without its model ({}, SHA-256 {}…): name the .onnx file "
        "as well",
        path_.string(), comparison().view().model_name, comparison().view().model_sha256.substr(0, 12)));
  const auto copy = [](std::span<const std::byte> bytes) {
    return SharedBytes(Bytes(bytes.begin(), bytes.end()));
  };
  std::vector<JobAttachment> attachments;
  for (const ModelPart& part : std::span(parts).subspan(1))
    attachments.push_back({part.name, copy(part.bytes)});
  auto model =
      load_model_bytes(path_, parts.front().name, copy(parts.front().bytes), std::move(attachments), weights);
  if (!model.ok()) return model;
  if (model->sha256 != comparison().view().model_sha256)
    return bad_input(fmt::format("{}: the model in it has the SHA-256 {}…, its comparison is of {}…",
                                 path_.string(), model->sha256.substr(0, 12),
                                 comparison().view().model_sha256.substr(0, 12)));
  model->class_names = comparison().view().class_names;
  return model;
}

Result<ComparisonView> KeptFile::view() const {
  auto view = comparison().whole_view();
  if (!view.ok()) return in_context(std::move(view).error(), path_.string());
  return view;
}

GivenInputs kept_inputs(const KeptFile& kept) {
  const ComparisonView& view = kept.comparison().view();
  return {kept.comparison().inputs(), view.input_text, view.input_label};
}

Result<OpenedModel> open_model(const std::filesystem::path& path, Weights weights) {
  if (!is_kept_file(path)) {
    DRIFTSCOPE_TRY(ModelFile model, load_model_file(path, weights));
    return OpenedModel{std::move(model), std::nullopt};
  }
  DRIFTSCOPE_TRY(const KeptFile kept, KeptFile::open(path));
  DRIFTSCOPE_TRY(ModelFile model, kept.model(weights));
  return OpenedModel{std::move(model), kept_inputs(kept)};
}

}  // namespace driftscope
