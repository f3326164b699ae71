// imdb:DIR: IMDb's layout, neg/ and pos/ with one text per file, read when they are asked for.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/dataset/dataset_format.hpp"

namespace driftscope::dataset_formats::imdb {
namespace {

class Imdb final : public SampleSource {
 public:
  Imdb(LabelledFiles listed, TextPreprocess how, Vocabulary vocabulary, ReadFile read)
      : listed_(std::move(listed)),
        how_(std::move(how)),
        vocabulary_(std::move(vocabulary)),
        read_(std::move(read)) {}

  [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(listed_.paths.size()); }
  [[nodiscard]] const std::vector<std::int64_t>& labels() const override { return listed_.labels; }

  [[nodiscard]] Result<Tensor> sample(std::int64_t i) const override {
    DRIFTSCOPE_TRY(const std::string read, text(i));
    auto tokens = encode(how_, vocabulary_, read);
    if (!tokens.ok()) return in_context(std::move(tokens).error(), in_quotes(path_of(i), 200));
    return tokens;
  }

  [[nodiscard]] Result<std::string> text(std::int64_t i) const override {
    DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, read_(path_of(i)));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

 private:
  [[nodiscard]] const std::string& path_of(std::int64_t i) const {
    return listed_.paths[static_cast<std::size_t>(i)];
  }

  LabelledFiles listed_;
  TextPreprocess how_;
  Vocabulary vocabulary_;
  ReadFile read_;
};

Result<Source> open(const DatasetSpec& spec, const SampleDescription& described, const FileAccess& files,
                    std::vector<std::string>& class_names) {
  const auto& how = std::get<TextPreprocess>(described);
  Vocabulary vocabulary;
  if (!how.vocabulary.empty()) {
    DRIFTSCOPE_TRY(vocabulary, read_vocabulary(how, files.read));
  }
  DRIFTSCOPE_TRY(const std::vector<FolderEntry> entries, files.list(spec.images));
  for (const char* name : {"neg", "pos"})
    if (std::ranges::none_of(entries, [&](const FolderEntry& e) { return e.folder && e.name == name; }))
      return bad_input(
          fmt::format("{}: no folder {}; IMDb's layout is neg/ and pos/, with one .txt "
                      "file per text",
                      in_quotes(spec.images, 200), name));
  const auto is_text = [](std::string_view name) { return name.ends_with(".txt"); };
  DRIFTSCOPE_TRY(LabelledFiles listed,
                 list_class_folders(spec.images, {"neg", "pos"}, +is_text, ".txt file", files, class_names));
  return Source(std::make_shared<Imdb>(std::move(listed), how, std::move(vocabulary), files.read));
}

}  // namespace

void add_to(DatasetFormatTable& table) {
  table.add({.order = 30, .name = "imdb", .what = "DIR", .what_one = "DIR", .texts = true, .open = open});
}

}  // namespace driftscope::dataset_formats::imdb
