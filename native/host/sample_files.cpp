#include "native/host/sample_files.hpp"

#include <fmt/format.h>

#include <memory>

#include "native/host/beside_model.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

std::filesystem::path preprocess_path(const ModelFile& model) {
  const std::filesystem::path path(model.path);
  return beside_model(path, path.filename().replace_extension(".preprocess.json"));
}

struct Description {
  SampleDescription how;
  std::shared_ptr<const Bytes> vocabulary;  ///< of texts
};

Result<Description> read_description(const ModelFile& model) {
  const auto path = preprocess_path(model);
  auto bytes = read_inside(path.parent_path(), path.filename());
  if (!bytes.ok())
    return bad_input(fmt::format(
        "{}; it describes how a sample becomes the model's input, and pictures, sounds, texts and data sets "
        "need it (see assets/README.md for the format)",
        bytes.error().message));
  auto how = parse_sample_description({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  if (!how.ok()) return in_context(std::move(how).error(), path.string());
  // The vocabulary's path is relative to the description's folder, and not far from it.
  Description made{*std::move(how), nullptr};
  if (auto* text = std::get_if<TextPreprocess>(&made.how)) {
    std::error_code error;
    const auto folder = std::filesystem::canonical(std::filesystem::absolute(path).parent_path(), error);
    if (error) return io_error(fmt::format("{}: {}", path.parent_path().string(), error.message()));
    const auto vocabulary = (folder / text->vocabulary).lexically_normal();
    // Descriptions come with untrusted models: a vocabulary must not be an arbitrary file of this machine.
    const auto allowed = folder.parent_path();
    auto words = read_inside(allowed, vocabulary.lexically_relative(allowed));
    if (!words.ok()) return in_context(std::move(words).error(), "the vocabulary");
    made.vocabulary = std::make_shared<const Bytes>(*std::move(words));
    text->vocabulary = vocabulary.string();
  }
  return made;
}

Result<std::vector<FolderEntry>> list_folder(const std::string& path) {
  std::vector<FolderEntry> entries;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(path, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    entries.push_back({entry->path().filename().string(), entry->is_directory(ignored)});
  }
  if (error) return bad_input(fmt::format("cannot read the folder {}: {}", path, error.message()));
  return entries;
}

/// The vocabulary is what was read from inside the allowed folder, whatever is there by now.
FileAccess file_access(const Description& description) {
  const auto* const text = std::get_if<TextPreprocess>(&description.how);
  const std::string vocabulary = text != nullptr ? text->vocabulary : std::string();
  return {[vocabulary, words = description.vocabulary](const std::string& path) -> Result<Bytes> {
            if (words && path == vocabulary) return *words;
            return read_file(path);
          },
          &list_folder};
}

}  // namespace

InputSite input_site(const ModelFile& model) {
  InputSite site;
  site.graph = &model.graph;
  site.files = {[](const std::string& path) { return read_file(path); }, &list_folder};
  site.is_folder = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored);
  };
  site.samples = [&model]() -> Result<InputSite::Samples> {
    DRIFTSCOPE_TRY(Description description, read_description(model));
    FileAccess files = file_access(description);
    return InputSite::Samples{std::move(description.how), std::move(files), preprocess_path(model).string()};
  };
  return site;
}

std::vector<std::filesystem::path> description_files(const ModelFile& model) {
  std::vector<std::filesystem::path> files;
  std::error_code ignored;
  if (!std::filesystem::exists(preprocess_path(model), ignored)) return files;
  files.push_back(preprocess_path(model));
  const auto description = read_description(model);
  if (!description.ok()) return files;
  if (const auto* const text = std::get_if<TextPreprocess>(&description->how); text != nullptr)
    files.emplace_back(text->vocabulary);
  return files;
}

std::vector<std::string> class_names(const ModelFile& model) {
  if (model.class_names) return *model.class_names;
  std::error_code ignored;
  if (!std::filesystem::exists(preprocess_path(model), ignored)) return {};
  const auto how = read_description(model);
  if (!how.ok()) return {};
  return std::visit([](const auto& one) { return one.labels; }, how->how);
}

}  // namespace driftscope
