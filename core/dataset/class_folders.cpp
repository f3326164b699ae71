#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/dataset/sample_source.hpp"

namespace driftscope {

Result<LabelledFiles> list_class_folders(const std::string& root, const std::vector<std::string>& folders,
                                         bool (*accepts)(std::string_view name), std::string_view expected,
                                         const FileAccess& files, std::vector<std::string>& class_names) {
  if (class_names.empty()) class_names = folders;
  std::vector<std::pair<std::int64_t, std::string>> classes;
  for (const std::string& folder : folders) {
    const auto at = std::ranges::find(class_names, folder);
    if (at == class_names.end())
      return bad_input(fmt::format("{}: folder {} is not one of the model's classes ({})",
                                   in_quotes(root, 200), in_quotes(folder), fmt::join(class_names, ", ")));
    classes.emplace_back(at - class_names.begin(), folder);
  }
  std::ranges::sort(classes);
  LabelledFiles listed;
  for (const auto& [label, folder] : classes) {
    const std::string path = root + "/" + folder;
    DRIFTSCOPE_TRY(std::vector<FolderEntry> entries, files.list(path));
    std::ranges::sort(entries, {}, &FolderEntry::name);
    const std::size_t before = listed.paths.size();
    for (const FolderEntry& entry : entries) {
      if (entry.name.starts_with('.')) continue;
      if (entry.folder || !accepts(entry.name))
        return bad_input(fmt::format("{}: {} is not a {}; a class's folder must contain nothing else",
                                     in_quotes(path, 200), in_quotes(entry.name), expected));
      listed.paths.push_back(path + "/" + entry.name);
      listed.labels.push_back(label);
    }
    if (listed.paths.size() == before)
      return bad_input(
          fmt::format("{}: the folder is empty, a {} is needed", in_quotes(path, 200), expected));
  }
  return listed;
}

}  // namespace driftscope
