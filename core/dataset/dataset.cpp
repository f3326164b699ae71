#include "core/dataset/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/base/text.hpp"
#include "core/dataset/cifar10.hpp"
#include "core/dataset/idx.hpp"

namespace driftscope {
namespace {

/// Reads a file and parses it; both kinds of error name it.
template <class T>
Result<T> parsed(const std::string& path, const ReadFile& read_file,
                 Result<T> (*parse)(std::span<const std::byte>)) {
  DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, read_file(path));
  auto value = parse(bytes);
  if (!value.ok()) return in_context(std::move(value).error(), in_quotes(path, 200));
  return value;
}

Result<std::vector<std::int64_t>> read_idx_labels(const std::string& path,
                                                  const ReadFile& read_file) {
  DRIFTSCOPE_TRY(const Tensor labels, parsed(path, read_file, &read_idx));
  if (labels.rank() != 1)
    return bad_input(fmt::format("{}: labels of shape {}, expected one dimension",
                                 in_quotes(path, 200), shape_text(labels.shape())));
  const auto values = labels.values<std::uint8_t>();
  return std::vector<std::int64_t>(values.begin(), values.end());
}

}  // namespace

Result<Dataset> Dataset::open(const DatasetSpec& spec, Preprocess how, const ReadFile& read_file) {
  Dataset set;
  set.how_ = std::move(how);
  if (spec.format == DatasetSpec::Format::cifar10) {
    DRIFTSCOPE_TRY(Cifar10 cifar10, parsed(spec.images, read_file, &read_cifar10));
    set.images_ = std::move(cifar10.images);
    set.labels_ = std::move(cifar10.labels);
  } else {
    DRIFTSCOPE_TRY(set.images_, parsed(spec.images, read_file, &read_idx));
    if (!spec.labels.empty()) {
      DRIFTSCOPE_TRY(set.labels_, read_idx_labels(spec.labels, read_file));
    }
  }
  if (Status status = set.check(); !status.ok())
    return in_context(std::move(status).error(), in_quotes(spec.images, 200));
  set.size_ = set.images_.shape().front();
  if (!spec.labels.empty() && static_cast<std::int64_t>(set.labels_.size()) != set.size_)
    return bad_input(fmt::format("{} holds {} samples, {} holds {} labels",
                                 in_quotes(spec.images, 200), set.size_,
                                 in_quotes(spec.labels, 200), set.labels_.size()));
  return set;
}

Status Dataset::check() const {
  const bool planar = images_.rank() == 4;
  if (images_.rank() != 3 && !planar)
    return bad_input(fmt::format("shape {}, expected samples x height x width",
                                 shape_text(images_.shape())));
  const Shape& shape = images_.shape();
  const Shape picture{planar ? shape[1] : 1, shape[shape.size() - 2], shape.back()};
  if (picture != Shape{how_.channels, how_.height, how_.width})
    return bad_input(fmt::format("its samples are {}, the model's preprocessing expects {}",
                                 shape_text(picture), how_.text()));
  if (shape.front() == 0) return bad_input("it holds no samples");
  const auto classes = static_cast<std::int64_t>(how_.labels.size());
  for (std::size_t i = 0; i < labels_.size() && classes > 0; ++i)
    if (labels_[i] >= classes)
      return bad_input(fmt::format("sample {} has label {}, but the model has {} classes", i,
                                   labels_[i], classes));
  return {};
}

std::span<const std::byte> Dataset::pixels(std::int64_t i) const {
  const std::size_t bytes = images_.bytes().size() / static_cast<std::size_t>(size_);
  return images_.bytes().subspan(static_cast<std::size_t>(i) * bytes, bytes);
}

Result<NamedTensor> Dataset::sample(std::int64_t i) const {
  if (i < 0 || i >= size_)
    return bad_input(fmt::format("sample {} does not exist: the data set has {}, counted from 0", i,
                                 size_));
  DRIFTSCOPE_TRY(Tensor tensor, preprocess(how_, pixels(i)));
  return NamedTensor{how_.input, std::move(tensor)};
}

Result<NamedTensor> Dataset::stacked(std::int64_t first, std::int64_t count) const {
  const auto end = checked_add(first, count);
  if (first < 0 || count < 1 || !end || *end > size_)
    return bad_input(fmt::format("{} samples from {} do not exist: the data set has {}", count, first,
                                 size_));
  DRIFTSCOPE_TRY(Tensor all, Tensor::make(DType::float32,
                                          {count, 1, how_.channels, how_.height, how_.width},
                                          "samples"));
  auto out = all.mutable_bytes();
  for (std::int64_t i = first; i < *end; ++i) {
    DRIFTSCOPE_TRY(const Tensor one, preprocess(how_, pixels(i)));
    std::ranges::copy(one.bytes(), out.begin());
    out = out.subspan(one.bytes().size());
  }
  return NamedTensor{how_.input, std::move(all)};
}

std::string Dataset::label_text(std::int64_t i) const {
  if (i < 0 || i >= static_cast<std::int64_t>(labels_.size())) return "";
  const auto label = static_cast<std::size_t>(labels_[static_cast<std::size_t>(i)]);
  return label < how_.labels.size() ? how_.labels[label] : fmt::format("{}", label);
}

}  // namespace driftscope
