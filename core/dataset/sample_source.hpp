// One kind of data set behind --dataset: where its samples and labels come from. Each kind is a file of
// its own. Client: dataset.
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
  /// One per sample, or empty.
  [[nodiscard]] virtual const std::vector<std::int64_t>& labels() const = 0;
};

using Source = std::shared_ptr<const SampleSource>;

/// MNIST's and CIFAR-10's formats: all pictures in one file, in the size that the model wants.
[[nodiscard]] Result<Source> open_stored_pictures(const DatasetSpec& spec, const Preprocess& how,
                                                  const ReadFile& read_file);

/// A folder per class with PNG and JPEG files, which are read when they are asked for.
[[nodiscard]] Result<Source> open_picture_folder(const DatasetSpec& spec, const Preprocess& how,
                                                 const FileAccess& files,
                                                 std::vector<std::string>& class_names);

/// IMDb's layout: neg/ and pos/ with one text per file, read when they are asked for.
[[nodiscard]] Result<Source> open_imdb(const DatasetSpec& spec, const TextPreprocess& how,
                                       const FileAccess& files, std::vector<std::string>& class_names);

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
