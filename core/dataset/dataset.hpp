// A set of labelled samples, ready for a model: the formats behind --dataset and --input, through the
// model's preprocessing description. Clients: the command line, the page.
// It reads no files itself: the caller hands in the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/dataset/preprocess.hpp"
#include "core/model/model.hpp"

namespace driftscope {

/// The bytes of a file that a spec names.
using ReadFile = std::function<Result<std::vector<std::byte>>(const std::string& path)>;

/// What the user wrote: "idx:IMAGES,LABELS", "cifar10:FILE", each with "#17" for one sample of it; for
/// one sample the labels may be absent ("idx:IMAGES#17"). The last comma and the last # count.
struct DatasetSpec {
  enum class Format { idx, cifar10 } format = Format::idx;
  std::string images;
  std::string labels;  ///< empty: none given
  std::optional<std::int64_t> sample;
};

/// Whether the text starts with the name of such a format.
[[nodiscard]] bool is_dataset_spec(std::string_view text);

/// Errors show how a spec looks.
[[nodiscard]] Result<DatasetSpec> parse_dataset_spec(std::string_view text);

class Dataset {
 public:
  /// Reads the files of the spec. The size of its pictures must be that of the description.
  [[nodiscard]] static Result<Dataset> open(const DatasetSpec& spec, Preprocess how,
                                            const ReadFile& read_file);

  [[nodiscard]] std::int64_t size() const { return size_; }

  /// Sample i as the model's input: its name, float32, 1×C×H×W.
  [[nodiscard]] Result<NamedTensor> sample(std::int64_t i) const;

  /// `count` samples from `first` on a new leading axis: count×1×C×H×W, each slice as sample gives it.
  [[nodiscard]] Result<NamedTensor> stacked(std::int64_t first, std::int64_t count) const;

  /// One per sample; empty when the spec names no labels.
  [[nodiscard]] const std::vector<std::int64_t>& labels() const { return labels_; }
  [[nodiscard]] const std::vector<std::string>& class_names() const { return how_.labels; }
  /// The name of sample i's class, its number when classes have no names, "" without labels.
  [[nodiscard]] std::string label_text(std::int64_t i) const;

 private:
  [[nodiscard]] Status check() const;
  [[nodiscard]] std::span<const std::byte> pixels(std::int64_t i) const;

  Preprocess how_;
  Tensor images_;  // N×H×W or N×C×H×W, uint8
  std::vector<std::int64_t> labels_;
  std::int64_t size_ = 0;
};

}  // namespace driftscope
