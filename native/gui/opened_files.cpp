#include "native/gui/opened_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/gui/kept_run.hpp"
#include "core/gui/stored_targets.hpp"
#include "core/platform/platform.hpp"
#include "native/host/attack_files.hpp"
#include "native/host/curve_files.hpp"
#include "native/host/generation_file.hpp"
#include "native/host/study_folder.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return extension;
}

}  // namespace

FileKind kind_of_file(const std::filesystem::path& path) {
  const std::string extension = lower_extension(path);
  if (extension == ".onnx") return FileKind::model;
  if (extension == ".safetensors") return FileKind::trace;
  if (is_study_folder(path)) return FileKind::study;
  if (is_attack(path)) return FileKind::attack;
  if (is_generation(path)) return FileKind::generation;
  if (is_curves(path)) return FileKind::curves;
  if (extension == ".json") return FileKind::comparison;
  if (is_kept_file(path)) return FileKind::kept;
  for (const char* sample : {".png", ".jpg", ".jpeg", ".txt", ".npy", ".pb"})
    if (extension == sample) return FileKind::sample;
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? FileKind::sample : FileKind::unknown;
}

Result<gui::TargetParts> open_trace(const std::filesystem::path& path) {
  DRIFTSCOPE_TRY(const MappedFile file, MappedFile::open(path));
  const auto kept = std::make_shared<const MappedFile>(file);
  auto tensors = gui::RecordedTensors::open(kept, kept->bytes());
  if (!tensors.ok()) return in_context(std::move(tensors).error(), path.string());
  gui::TargetParts parts;
  parts.tensors = *std::move(tensors);
  parts.target = parts.tensors->about().target;
  if (parts.target.empty()) parts.target = "file/" + path.filename().string();
  return parts;
}

Result<gui::SnapshotParts> open_comparison(const std::filesystem::path& path) {
  DRIFTSCOPE_TRY(const Bytes bytes, read_file(path));
  auto parts = gui::read_stored_comparison({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!parts.ok()) return in_context(std::move(parts).error(), path.string());
  return parts;
}

Result<gui::SnapshotParts> open_kept(const KeptFile& file) {
  auto parts = gui::parts_of(file.comparison(), file.owner());
  if (!parts.ok()) return in_context(std::move(parts).error(), file.path().string());
  return parts;
}

std::string model_of(const gui::TargetParts& parts) {
  if (parts.tensors && !parts.tensors->about().model_sha256.empty())
    return parts.tensors->about().model_sha256;
  if (parts.verification && !parts.verification->model_sha256.empty())
    return parts.verification->model_sha256;
  return parts.about.model_sha256;
}

void verify_targets(std::vector<gui::TargetParts>& targets, const ModelFile& model,
                    const std::function<bool(const std::string& target, std::int64_t done,
                                             std::int64_t total)>& on_progress) {
  ThreadPool threads(usable_processors());
  for (gui::TargetParts& target : targets) {
    if (!target.tensors || target.verification) continue;
    auto verification = verify(
        model.graph, model.sha256, target.tensors->view(), threads,
        [&](std::int64_t done, std::int64_t total) { return on_progress(target.target, done, total); });
    if (verification.ok()) {
      target.verification = *std::move(verification);
    } else if (verification.error().kind == ErrorKind::cancelled) {
      return;
    } else {
      target.error = verification.error().message;
    }
  }
}

}  // namespace driftscope
