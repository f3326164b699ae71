#include "core/gui/opened_results.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/curves/curve_format.hpp"
#include "core/dataset/npy.hpp"
#include "core/decode/read_generation.hpp"
#include "core/study/stored_study.hpp"

namespace driftscope::gui {
namespace {

constexpr std::size_t looked_at_result = 2000;  // the format is among the first members

std::string_view text_of(const ChosenFile& file) {
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

/// "a/b/" of "a/b/c"; "" of "c".
std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/') + 1); }
std::string_view name_of_file(std::string_view path) { return path.substr(folder_of(path).size()); }

/// The chosen files; what was used is not looked at again.
class Chosen {
 public:
  explicit Chosen(std::vector<ChosenFile> files) : files_(std::move(files)), used_(files_.size()) {
    std::ranges::sort(files_, {}, &ChosenFile::path);
  }
  [[nodiscard]] bool is_used(const ChosenFile& file) const { return used_[place(file)]; }
  [[nodiscard]] const ChosenFile* find(const std::string& path) const {
    const auto at = std::ranges::lower_bound(files_, path, {}, &ChosenFile::path);
    return at != files_.end() && at->path == path ? &*at : nullptr;
  }
  void use(const ChosenFile& file) { used_[place(file)] = true; }
  /// Those that `wanted` accepts, unless they are used.
  template <class Wanted>
  [[nodiscard]] std::vector<const ChosenFile*> unused(const Wanted& wanted) const {
    std::vector<const ChosenFile*> found;
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (!used_[i] && wanted(files_[i])) found.push_back(&files_[i]);
    return found;
  }

 private:
  [[nodiscard]] std::size_t place(const ChosenFile& file) const {
    return static_cast<std::size_t>(&file - files_.data());
  }

  std::vector<ChosenFile> files_;
  std::vector<bool> used_;
};

bool says_format(const ChosenFile& file, std::string_view format) {
  return text_of(file).substr(0, looked_at_result).find(format) != std::string_view::npos;
}

bool is_study_part(const ChosenFile& file) {
  const std::string_view name = name_of_file(file.path);
  return name == study_store_name || (name == study_file_name && says_format(file, "\"driftscope-study-"));
}

/// The study that `part` is of.
void open_study(Chosen& chosen, const ChosenFile& part, OpenedResults& opened) {
  const std::string_view folder = folder_of(part.path);
  StudyTexts texts;
  std::string missing;
  for (const auto& [name, text] : {std::pair{study_file_name, &texts.study},
                                   {study_store_name, &texts.cells},
                                   {study_sizes_name, &texts.sizes}}) {
    const ChosenFile* const file = chosen.find(std::string(folder) + std::string(name));
    if (file == nullptr) {
      missing += fmt::format("{}{}", missing.empty() ? "" : " and ", name);
      continue;
    }
    *text = text_of(*file);
    chosen.use(*file);
  }
  const std::string where = folder.empty() ? part.path : std::string(folder.substr(0, folder.size() - 1));
  if (!missing.empty()) {
    opened.errors.push_back(fmt::format(
        "{}: {} {} missing; expected the whole folder that `driftscope study run --out FOLDER` writes", where,
        missing, missing.find(' ') == std::string::npos ? "is" : "are"));
    return;
  }
  if (opened.study) {
    opened.errors.push_back(
        fmt::format("{}: one study is shown at a time; choose the folder of this one alone", where));
    return;
  }
  auto study = read_stored_study(texts);
  if (study.ok())
    opened.study = std::make_shared<const StudyView>(*std::move(study));
  else
    opened.errors.push_back(fmt::format("{}: {}", where, study.error().message));
}

void open_attack(Chosen& chosen, const ChosenFile& json, OpenedResults& opened) {
  chosen.use(json);
  const auto array = [&](const std::string& name) -> Result<std::optional<Tensor>> {
    const ChosenFile* const beside = chosen.find(std::string(folder_of(json.path)) + name);
    if (beside == nullptr) return std::optional<Tensor>();
    chosen.use(*beside);
    auto tensor = read_npy(beside->bytes);
    if (!tensor.ok()) return in_context(std::move(tensor).error(), beside->path);
    return std::optional(*std::move(tensor));
  };
  auto results = read_attack_results(text_of(json), array);
  if (results.ok())
    opened.attacks.push_back(*std::move(results));
  else
    opened.errors.push_back(fmt::format("{}: {}", json.path, results.error().message));
}

void open_generation(Chosen& chosen, const ChosenFile& json, OpenedResults& opened) {
  chosen.use(json);
  auto results = read_generation(text_of(json));
  if (results.ok())
    opened.generation = std::make_shared<const documents::Generate>(*std::move(results));
  else
    opened.errors.push_back(fmt::format("{}: {}", json.path, results.error().message));
}

void open_curves(const Chosen& chosen, OpenedResults& opened) {
  std::vector<NamedCurveFile> files;
  for (const ChosenFile* const file : chosen.unused([](const ChosenFile&) { return true; })) {
    if (name_of_file(file->path).ends_with(".npy")) {
      opened.errors.push_back(fmt::format(
          "{}: an array without its attack; expected attack.json of `driftscope attack -o FOLDER` beside it",
          file->path));
      continue;
    }
    // Of ours, but nothing of this: the message would be about curves.
    if (const std::size_t at = text_of(*file).substr(0, looked_at_result).find("\"driftscope-");
        at != std::string_view::npos && !says_format(*file, "\"driftscope-training-")) {
      opened.errors.push_back(fmt::format(
          "{}: the format {}; expected a study, an attack, a generation or training curves. `driftscope gui` "
          "opens "
          "comparisons",
          file->path,
          in_quotes(text_of(*file).substr(at + 1, text_of(*file).find('"', at + 1) - at - 1), 60)));
      continue;
    }
    const std::string_view top = std::string_view(file->path).substr(0, file->path.find('/') + 1);
    auto read = read_curves({file->path, curve_run_name(file->path, top), file->bytes});
    if (read.ok())
      files.push_back({file->path, *std::move(read)});
    else
      opened.errors.push_back(read.error().message);
  }
  if (files.empty()) return;
  auto set = make_curve_set(std::move(files));
  if (set.ok())
    opened.curves = *std::move(set);
  else
    opened.errors.push_back(set.error().message);
}

}  // namespace

OpenedResults open_results(std::vector<ChosenFile> files) {
  OpenedResults opened;
  Chosen chosen(std::move(files));
  for (const ChosenFile* const file : chosen.unused(is_study_part))
    if (!chosen.is_used(*file)) open_study(chosen, *file, opened);
  for (const ChosenFile* const file :
       chosen.unused([](const ChosenFile& one) { return says_format(one, "\"driftscope-attack-"); }))
    open_attack(chosen, *file, opened);
  for (const ChosenFile* const file :
       chosen.unused([](const ChosenFile& one) { return says_format(one, "\"driftscope-generate-"); }))
    open_generation(chosen, *file, opened);
  open_curves(chosen, opened);
  return opened;
}

}  // namespace driftscope::gui
