// images:DIR: a folder per class with PNG and JPEG files, which are read when they are asked for.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/dataset/dataset_format.hpp"

namespace driftscope::dataset_formats::images {
namespace {

class PictureFolder final : public SampleSource {
 public:
  PictureFolder(LabelledFiles listed, Preprocess how, ReadFile read)
      : listed_(std::move(listed)), how_(std::move(how)), read_(std::move(read)) {}

  [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(listed_.paths.size()); }
  [[nodiscard]] const std::vector<std::int64_t>& labels() const override { return listed_.labels; }

  [[nodiscard]] Result<Tensor> sample(std::int64_t i) const override {
    const std::string& path = listed_.paths[static_cast<std::size_t>(i)];
    DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, read_(path));
    auto tensor = read_picture(how_, bytes);
    if (!tensor.ok()) return in_context(std::move(tensor).error(), in_quotes(path, 200));
    return tensor;
  }

 private:
  LabelledFiles listed_;
  Preprocess how_;
  ReadFile read_;
};

Result<Source> open(const DatasetSpec& spec, const SampleDescription& how, const FileAccess& files,
                    std::vector<std::string>& class_names) {
  DRIFTSCOPE_TRY(const std::vector<FolderEntry> entries, files.list(spec.images));
  std::vector<std::string> folders;
  for (const FolderEntry& entry : entries)
    if (entry.folder && !entry.name.starts_with('.')) folders.push_back(entry.name);
  std::ranges::sort(folders);
  if (folders.empty())
    return bad_input(fmt::format("{}: it contains no folders; one per class is needed, with pictures",
                                 in_quotes(spec.images, 200)));
  DRIFTSCOPE_TRY(LabelledFiles listed, list_class_folders(spec.images, folders, &is_picture_name,
                                                          ".png or .jpg file", files, class_names));
  return Source(std::make_shared<PictureFolder>(std::move(listed), std::get<Preprocess>(how), files.read));
}

}  // namespace

void add_to(DatasetFormatTable& table) {
  table.add({.order = 40, .name = "images", .what = "DIR", .what_one = "DIR", .open = open});
}

}  // namespace driftscope::dataset_formats::images
