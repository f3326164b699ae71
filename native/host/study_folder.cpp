#include "native/host/study_folder.hpp"

#include "native/os/files.hpp"

namespace driftscope {
namespace {

Result<std::string> text_of(const std::filesystem::path& path) {
  DRIFTSCOPE_TRY(const auto bytes, read_file(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

bool is_study_folder(const std::filesystem::path& path) {
  std::error_code no_matter;
  return std::filesystem::is_regular_file(path / study_file_name, no_matter) &&
         std::filesystem::is_regular_file(path / study_store_name, no_matter);
}

Result<StudyView> read_study_folder(const std::filesystem::path& folder) {
  StudyTexts texts;
  DRIFTSCOPE_TRY(texts.study, text_of(folder / study_file_name));
  DRIFTSCOPE_TRY(texts.cells, text_of(folder / study_store_name));
  DRIFTSCOPE_TRY(texts.sizes, text_of(folder / study_sizes_name));
  auto view = read_stored_study(texts);
  if (!view.ok()) return in_context(std::move(view).error(), folder.string());
  return view;
}

}  // namespace driftscope
