// idx:IMAGES,LABELS: MNIST's format, pictures and labels in a file each.
#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/dataset/dataset_format.hpp"
#include "core/dataset/idx.hpp"
#include "core/dataset/stored_pictures.hpp"

namespace driftscope::dataset_formats::idx {
namespace {

Result<std::vector<std::int64_t>> read_labels(const std::string& path, const ReadFile& read_file) {
  DRIFTSCOPE_TRY(const Tensor labels, parsed_file(path, read_file, &read_idx));
  if (labels.rank() != 1)
    return bad_input(fmt::format("{}: labels of shape {}, expected one dimension", in_quotes(path, 200),
                                 shape_text(labels.shape())));
  const auto values = labels.values<std::uint8_t>();
  return std::vector<std::int64_t>(values.begin(), values.end());
}

Result<Source> open(const DatasetSpec& spec, const SampleDescription& how, const FileAccess& files,
                    std::vector<std::string>& /*class_names*/) {
  DRIFTSCOPE_TRY(Tensor images, parsed_file(spec.images, files.read, &read_idx));
  std::vector<std::int64_t> labels;
  if (!spec.labels.empty()) {
    DRIFTSCOPE_TRY(labels, read_labels(spec.labels, files.read));
  }
  return open_stored_pictures(spec, std::move(images), std::move(labels), std::get<Preprocess>(how));
}

}  // namespace

void add_to(DatasetFormatTable& table) {
  table.add({.order = 10,
             .name = "idx",
             .what = "IMAGES,LABELS",
             .what_one = "FILE",
             .labels_apart = true,
             .open = open});
}

}  // namespace driftscope::dataset_formats::idx
