#include "core/dataset/stored_pictures.hpp"

#include <fmt/format.h>

namespace driftscope {
namespace {

class StoredPictures final : public SampleSource {
 public:
  StoredPictures(Tensor images, std::vector<std::int64_t> labels, Preprocess how)
      : images_(std::move(images)), labels_(std::move(labels)), how_(std::move(how)) {}

  [[nodiscard]] std::int64_t size() const override { return images_.shape().front(); }
  [[nodiscard]] const std::vector<std::int64_t>& labels() const override { return labels_; }

  [[nodiscard]] Result<Tensor> sample(std::int64_t i) const override {
    const std::size_t bytes = images_.bytes().size() / static_cast<std::size_t>(size());
    return preprocess(how_, images_.bytes().subspan(static_cast<std::size_t>(i) * bytes, bytes));
  }

  [[nodiscard]] Status check() const;

 private:
  Tensor images_;  // N×H×W or N×C×H×W, uint8
  std::vector<std::int64_t> labels_;
  Preprocess how_;
};

Status StoredPictures::check() const {
  const bool planar = images_.rank() == 4;
  if (images_.rank() != 3 && !planar)
    return bad_input(fmt::format("shape {}, expected samples x height x width", shape_text(images_.shape())));
  const Shape& shape = images_.shape();
  const Shape picture{planar ? shape[1] : 1, shape[shape.size() - 2], shape.back()};
  if (picture != Shape{how_.channels, how_.height, how_.width})
    return bad_input(fmt::format("its samples are {}, the model's preprocessing expects {}",
                                 shape_text(picture), how_.text()));
  if (shape.front() == 0) return bad_input("it contains no samples");
  const auto classes = static_cast<std::int64_t>(how_.labels.size());
  for (std::size_t i = 0; i < labels_.size() && classes > 0; ++i)
    if (labels_[i] >= classes)
      return bad_input(
          fmt::format("sample {} has label {}, but the model has {} classes", i, labels_[i], classes));
  return {};
}

}  // namespace

Result<Source> open_stored_pictures(const DatasetSpec& spec, Tensor images, std::vector<std::int64_t> labels,
                                    const Preprocess& how) {
  auto source = std::make_shared<StoredPictures>(std::move(images), std::move(labels), how);
  if (Status status = source->check(); !status.ok())
    return in_context(std::move(status).error(), in_quotes(spec.images, 200));
  if (!spec.labels.empty() && static_cast<std::int64_t>(source->labels().size()) != source->size())
    return bad_input(fmt::format("{} holds {} samples, {} holds {} labels", in_quotes(spec.images, 200),
                                 source->size(), in_quotes(spec.labels, 200), source->labels().size()));
  return Source(std::move(source));
}

}  // namespace driftscope
