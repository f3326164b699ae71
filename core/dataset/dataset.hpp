// A set of labelled samples, ready for a model: the formats behind --dataset and --input, through the
// model's preprocessing description. Clients: the command line, the page.
// It reads no files itself: the caller hands in the bytes, and the names in a folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.hpp"
#include "core/dataset/audio_preprocess.hpp"
#include "core/dataset/preprocess.hpp"
#include "core/dataset/text_preprocess.hpp"
#include "core/model/model.hpp"

namespace driftscope {

/// The bytes of a file that a spec names.
using ReadFile = std::function<Result<std::vector<std::byte>>(const std::string& path)>;

struct FolderEntry {
  std::string name;  ///< without the folder's name
  bool folder = false;
};
/// What a folder holds, in any order.
using ListFolder = std::function<Result<std::vector<FolderEntry>>(const std::string& path)>;

struct FileAccess {
  ReadFile read;
  ListFolder list;
};

/// What MODEL.preprocess.json describes.
using SampleDescription = std::variant<Preprocess, TextPreprocess, AudioPreprocess>;

/// "pictures", "texts" or "sounds", for errors.
[[nodiscard]] std::string_view described_samples(const SampleDescription& how);

/// Reads the JSON text: "kind": "text" is TextPreprocess, "audio" AudioPreprocess, none is Preprocess.
[[nodiscard]] Result<SampleDescription> parse_sample_description(std::string_view json_text);

/// What the user wrote: "idx:IMAGES,LABELS", "cifar10:FILE", …, each with "#17" for one sample of it; for one
/// sample the labels may be absent ("idx:IMAGES#17"). The last comma and the last # count.
struct DatasetSpec {
  std::string format;  ///< a name of the table: "idx" (core/dataset/dataset_format.hpp)
  std::string images;  ///< the file or folder of the samples
  std::string labels;  ///< empty: none given
  std::optional<std::int64_t> sample;
};

/// Whether the text starts with the name of such a format.
[[nodiscard]] bool is_dataset_spec(std::string_view text);

/// Errors show how a spec looks.
[[nodiscard]] Result<DatasetSpec> parse_dataset_spec(std::string_view text);

class SampleSource;

class Dataset {
 public:
  /// Reads the files of the spec, or lists its folders. Stored pictures must have the size of the
  /// description; folders must be classes of it. Pictures and texts in files of their own are read, and
  /// can turn out to be wrong, when they are requested. A description of texts without a vocabulary is for
  /// clients of text() alone.
  [[nodiscard]] static Result<Dataset> open(const DatasetSpec& spec, SampleDescription how,
                                            const FileAccess& files);
  /// For formats without folders.
  [[nodiscard]] static Result<Dataset> open(const DatasetSpec& spec, SampleDescription how,
                                            const ReadFile& read_file);

  [[nodiscard]] std::int64_t size() const;

  /// Sample i as the model's input: its name, and a batch of one.
  [[nodiscard]] Result<NamedTensor> sample(std::int64_t i) const;
  /// The text of sample i, before preprocessing. Errors: samples that are no texts.
  [[nodiscard]] Result<std::string> text(std::int64_t i) const;

  /// One per sample; empty when the spec names no labels.
  [[nodiscard]] const std::vector<std::int64_t>& labels() const;
  [[nodiscard]] const std::vector<std::string>& class_names() const { return class_names_; }
  /// The name of sample i's class, its number when classes have no names, "" without labels.
  [[nodiscard]] std::string label_text(std::int64_t i) const;

 private:
  [[nodiscard]] Status expect_sample(std::int64_t i) const;

  std::string input_;
  std::vector<std::string> class_names_;
  std::shared_ptr<const SampleSource> source_;
};

/// Whether a file's name ends in .png, .jpg or .jpeg, in any case.
[[nodiscard]] bool is_picture_name(std::string_view name);

/// A PNG or JPEG file → the model's input.
[[nodiscard]] Result<Tensor> read_picture(const Preprocess& how, std::span<const std::byte> bytes);

/// The file that a text description names.
[[nodiscard]] Result<Vocabulary> read_vocabulary(const TextPreprocess& how, const ReadFile& read_file);

}  // namespace driftscope
