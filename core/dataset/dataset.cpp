#include "core/dataset/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/base/text.hpp"
#include "core/dataset/sample_source.hpp"

namespace driftscope {

Result<SampleDescription> parse_sample_description(std::string_view json_text) {
  if (describes_text(json_text)) {
    DRIFTSCOPE_TRY(TextPreprocess how, parse_text_preprocess(json_text));
    return SampleDescription(std::move(how));
  }
  DRIFTSCOPE_TRY(Preprocess how, parse_preprocess(json_text));
  return SampleDescription(std::move(how));
}

Result<Dataset> Dataset::open(const DatasetSpec& spec, SampleDescription how, const FileAccess& files) {
  using Format = DatasetSpec::Format;
  Dataset set;
  set.input_ = std::visit([](const auto& one) { return one.input; }, how);
  set.class_names_ = std::visit([](const auto& one) { return one.labels; }, how);
  const auto* pictures = std::get_if<Preprocess>(&how);
  if ((spec.format == Format::imdb) != (pictures == nullptr))
    return bad_input(fmt::format("{}: a data set of {}, but the model's preprocessing describes {}",
                                 in_quotes(spec.images, 200), pictures != nullptr ? "texts" : "pictures",
                                 pictures != nullptr ? "pictures" : "texts"));
  if (pictures == nullptr) {
    DRIFTSCOPE_TRY(set.source_, open_imdb(spec, std::get<TextPreprocess>(how), files, set.class_names_));
  } else if (spec.format == Format::images) {
    DRIFTSCOPE_TRY(set.source_, open_picture_folder(spec, *pictures, files, set.class_names_));
  } else {
    DRIFTSCOPE_TRY(set.source_, open_stored_pictures(spec, *pictures, files.read));
  }
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

Result<NamedTensor> Dataset::sample(std::int64_t i) const {
  if (i < 0 || i >= size())
    return bad_input(fmt::format("sample {} does not exist: the data set has {}, counted from 0", i, size()));
  DRIFTSCOPE_TRY(Tensor tensor, source_->sample(i));
  return NamedTensor{input_, std::move(tensor)};
}

Result<NamedTensor> Dataset::stacked(std::int64_t first, std::int64_t count) const {
  const auto end = checked_add(first, count);
  if (first < 0 || count < 1 || !end || *end > size())
    return bad_input(
        fmt::format("{} samples from {} do not exist: the data set has {}", count, first, size()));
  Tensor all;
  std::span<std::byte> out;
  for (std::int64_t i = first; i < *end; ++i) {
    DRIFTSCOPE_TRY(const Tensor one, source_->sample(i));
    if (i == first) {
      Shape shape = one.shape();
      shape.insert(shape.begin(), count);
      DRIFTSCOPE_TRY(all, Tensor::make(one.dtype(), std::move(shape), "samples"));
      out = all.mutable_bytes();
    }
    std::ranges::copy(one.bytes(), out.begin());  // the description gives all samples the same shape
    out = out.subspan(one.bytes().size());
  }
  return NamedTensor{input_, std::move(all)};
}

std::string Dataset::label_text(std::int64_t i) const {
  if (i < 0 || i >= static_cast<std::int64_t>(labels().size())) return "";
  const auto label = static_cast<std::size_t>(labels()[static_cast<std::size_t>(i)]);
  return label < class_names_.size() ? class_names_[label] : fmt::format("{}", label);
}

}  // namespace driftscope
