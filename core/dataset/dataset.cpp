#include "core/dataset/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/dataset/dataset_format.hpp"

namespace driftscope {

bool is_picture_name(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower.ends_with(".png") || lower.ends_with(".jpg") || lower.ends_with(".jpeg");
}

Result<Tensor> read_picture(const Preprocess& how, std::span<const std::byte> bytes) {
  DRIFTSCOPE_TRY(const Picture picture, decode_picture(bytes));
  return preprocess(how, picture);
}

Result<Vocabulary> read_vocabulary(const TextPreprocess& how, const ReadFile& read_file) {
  DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, read_file(how.vocabulary));
  auto vocabulary = Vocabulary::read(bytes);
  if (!vocabulary.ok()) return in_context(std::move(vocabulary).error(), in_quotes(how.vocabulary, 200));
  return vocabulary;
}

std::string_view described_samples(const SampleDescription& how) {
  constexpr std::string_view names[] = {"pictures", "texts", "sounds"};
  return names[how.index()];
}

Result<SampleDescription> parse_sample_description(std::string_view json_text) {
  if (describes_audio(json_text)) {
    DRIFTSCOPE_TRY(AudioPreprocess how, parse_audio_preprocess(json_text));
    return SampleDescription(std::move(how));
  }
  if (describes_text(json_text)) {
    DRIFTSCOPE_TRY(TextPreprocess how, parse_text_preprocess(json_text));
    return SampleDescription(std::move(how));
  }
  DRIFTSCOPE_TRY(Preprocess how, parse_preprocess(json_text));
  return SampleDescription(std::move(how));
}

Result<Dataset> Dataset::open(const DatasetSpec& spec, SampleDescription how, const FileAccess& files) {
  const DatasetFormat* const format = dataset_format_table().find(spec.format);
  if (format == nullptr) return internal_error(fmt::format("there is no data set format '{}'", spec.format));
  const std::string_view samples = format->texts ? "texts" : "pictures";
  if (described_samples(how) != samples)
    return bad_input(fmt::format("{}: a data set of {}, but the model's preprocessing describes {}",
                                 in_quotes(spec.images, 200), samples, described_samples(how)));
  Dataset set;
  set.input_ = std::visit([](const auto& one) { return one.input; }, how);
  set.class_names_ = std::visit([](const auto& one) { return one.labels; }, how);
  DRIFTSCOPE_TRY(set.source_, format->open(spec, how, files, set.class_names_));
  return set;
}

Result<Dataset> Dataset::open(const DatasetSpec& spec, SampleDescription how, const ReadFile& read_file) {
  const auto no_folders = [](const std::string& path) -> Result<std::vector<FolderEntry>> {
    return unsupported(fmt::format("{}: folders cannot be listed here", in_quotes(path, 200)));
  };
  return open(spec, std::move(how), FileAccess{read_file, no_folders});
}

std::int64_t Dataset::size() const { return source_->size(); }

const std::vector<std::int64_t>& Dataset::labels() const { return source_->labels(); }

Status Dataset::expect_sample(std::int64_t i) const {
  if (i >= 0 && i < size()) return {};
  return bad_input(fmt::format("sample {} does not exist: the data set has {}, counted from 0", i, size()));
}

Result<NamedTensor> Dataset::sample(std::int64_t i) const {
  DRIFTSCOPE_CHECK(expect_sample(i));
  DRIFTSCOPE_TRY(Tensor tensor, source_->sample(i));
  return NamedTensor{input_, std::move(tensor)};
}

Result<std::string> Dataset::text(std::int64_t i) const {
  DRIFTSCOPE_CHECK(expect_sample(i));
  return source_->text(i);
}

Result<std::string> SampleSource::text(std::int64_t /*i*/) const {
  return unsupported("the samples of this data set are no texts");
}

std::string Dataset::label_text(std::int64_t i) const {
  if (i < 0 || i >= static_cast<std::int64_t>(labels().size())) return "";
  const auto label = static_cast<std::size_t>(labels()[static_cast<std::size_t>(i)]);
  return label < class_names_.size() ? class_names_[label] : fmt::format("{}", label);
}

}  // namespace driftscope
