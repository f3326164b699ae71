// What the window opens: models, kept comparisons, and beside a run studies, attacks,
// generations, training curves.
#include <algorithm>
#include <utility>

#include "core/gui/stored_targets.hpp"
#include "native/gui/desktop_host.hpp"
#include "native/gui/opened_files.hpp"
#include "native/host/attack_files.hpp"
#include "native/host/curve_files.hpp"
#include "native/host/generation_file.hpp"
#include "native/host/study_folder.hpp"

namespace driftscope {

void DesktopHost::add_model(const std::filesystem::path& path, OpenedModel opened) {
  const auto place = static_cast<std::size_t>(std::find(model_paths_.begin(), model_paths_.end(), path) -
                                              model_paths_.begin());
  if (place == model_paths_.size()) {
    model_paths_.push_back(path);
    change([&](gui::Feed& feed) { feed.models.push_back(path.filename().string()); });
  }
  use_model(std::make_shared<const ModelFile>(std::move(opened.model)), place, std::move(opened.inputs));
}

Status DesktopHost::open_kept_now(const std::filesystem::path& path, std::vector<gui::TargetParts>& fresh,
                                  std::optional<gui::SnapshotParts>& about) {
  DRIFTSCOPE_TRY(const KeptFile kept, KeptFile::open(path));
  DRIFTSCOPE_TRY(gui::SnapshotParts parts, open_kept(kept));
  gui::merge_targets(fresh, std::exchange(parts.targets, {}));
  about = std::move(parts);
  if (kept.comparison().model().empty()) return {};
  DRIFTSCOPE_TRY(ModelFile model, kept.model());
  add_model(path, {std::move(model), kept_inputs(kept)});
  return {};
}

void DesktopHost::open_study_now(const std::filesystem::path& path) {
  auto study = read_study_folder(path);
  if (!study.ok()) return fail(study.error().message);
  auto made = std::make_shared<const StudyView>(*std::move(study));
  change([&](gui::Feed& feed) { feed.study = std::move(made); });
}

void DesktopHost::open_attack_now(const std::filesystem::path& path) {
  auto attack = read_attack(path);
  if (!attack.ok()) return fail(attack.error().message);
  const auto open = feed()->attacks;
  auto all = std::make_shared<const std::vector<AttackResults>>(
      attacks_with(open ? *open : std::vector<AttackResults>(), *std::move(attack)));
  change([&](gui::Feed& feed) { feed.attacks = std::move(all); });
}

void DesktopHost::open_generation_now(const std::filesystem::path& path) {
  auto generation = load_generation(path);
  if (!generation.ok()) return fail(generation.error().message);
  auto made = std::make_shared<const documents::Generate>(*std::move(generation));
  change([&](gui::Feed& feed) { feed.generation = std::move(made); });
}

void DesktopHost::open_curves_now(const std::vector<std::string>& paths) {
  auto files = read_curve_files(paths);
  if (!files.ok()) return fail(files.error().message);
  auto set = make_curve_set(*std::move(files));
  if (!set.ok()) return fail(set.error().message);
  change([&](gui::Feed& feed) { feed.curves = *std::move(set); });
}

}  // namespace driftscope
