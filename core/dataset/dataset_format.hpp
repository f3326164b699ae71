// The formats behind idx:IMAGES,LABELS and the like. A format is a file in formats/: each FOO.cpp defines
// `void driftscope::dataset_formats::foo::add_to(DatasetFormatTable&)`; the table is generated from the
// folder at configure time, never edited. Clients: parse_dataset_spec, Dataset::open, errors. Reads nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dataset/dataset.hpp"
#include "core/dataset/sample_source.hpp"

namespace driftscope {

struct DatasetFormat {
  int order = 50;        ///< in lists, ascending
  std::string name;      ///< before the colon: "idx"
  std::string what;      ///< after it, of a whole set: "IMAGES,LABELS"
  std::string what_one;  ///< of one sample: "FILE"
  /// The labels are in a file of their own, after the last comma; only one sample can do without.
  bool labels_apart = false;
  bool texts = false;  ///< what the description must be of; else pictures
  /// An empty `class_names` may be filled in.
  Result<Source> (*open)(const DatasetSpec& spec, const SampleDescription& how, const FileAccess& files,
                         std::vector<std::string>& class_names) = nullptr;
};

class DatasetFormatTable {
 public:
  void add(DatasetFormat format);
  /// In their order.
  [[nodiscard]] std::span<const DatasetFormat> all() const { return formats_; }
  /// Null: there is none of this name.
  [[nodiscard]] const DatasetFormat* find(std::string_view name) const;

 private:
  std::vector<DatasetFormat> formats_;
};

/// All of this build (generated: build/generated/dataset_format_registry.cpp).
[[nodiscard]] const DatasetFormatTable& dataset_format_table();

/// "idx:IMAGES,LABELS, cifar10:FILE, imdb:DIR or images:DIR", for help and errors.
[[nodiscard]] std::string dataset_forms();
/// "idx:FILE#17, cifar10:FILE#17, imdb:DIR#17, images:DIR#17".
[[nodiscard]] std::string sample_forms();

}  // namespace driftscope
