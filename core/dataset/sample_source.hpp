// What a data set format gives: where its samples and labels come from. Clients: dataset, the formats
// (dataset_format.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/dataset/dataset.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// 0 ≤ i < size(); a batch of one.
  [[nodiscard]] virtual Result<Tensor> sample(std::int64_t i) const = 0;
  /// What sample i was before it became tokens. Errors: samples that are no texts.
  [[nodiscard]] virtual Result<std::string> text(std::int64_t i) const;
  /// One per sample, or empty.
  [[nodiscard]] virtual const std::vector<std::int64_t>& labels() const = 0;
};

using Source = std::shared_ptr<const SampleSource>;

/// Files of class folders, by class as `class_names` orders them, then by name.
struct LabelledFiles {
  std::vector<std::string> paths;
  std::vector<std::int64_t> labels;
};

/// Folders of `root` that are classes. `accepts` says whether a file's name is that of a sample. An
/// empty `class_names` is filled with the folders' names, in order; otherwise each folder must be one of
/// them.
[[nodiscard]] Result<LabelledFiles> list_class_folders(const std::string& root,
                                                       const std::vector<std::string>& folders,
                                                       bool (*accepts)(std::string_view name),
                                                       std::string_view expected, const FileAccess& files,
                                                       std::vector<std::string>& class_names);

}  // namespace driftscope
