// The formats that a model can be exported to. core/convert/FOO/format.cpp defines
// `void driftscope::convert::foo::add_to(FormatTable&)`; the table is generated from the folders
// (cmake/registry.cmake). Clients: driftscope export.
#pragma once

#include <string_view>
#include <vector>

#include "core/convert/converted_model.hpp"

namespace driftscope::convert {

struct Format {
  std::string_view name;    ///< "TensorFlow.js graph model"
  std::string_view option;  ///< of the command line, without dashes: "tfjs"
  bool folder = false;      ///< several files in a folder; else one file
  std::string_view help;    ///< a sentence
  Converter convert = nullptr;
  /// Of a folder: whether only an export gives a file this name. Those that the model does not name are of an
  /// older one.
  bool (*is_named_by_contents)(std::string_view name) = nullptr;
};

class FormatTable {
 public:
  void add(const Format& format) { formats_.push_back(format); }
  [[nodiscard]] const std::vector<Format>& all() const { return formats_; }

 private:
  std::vector<Format> formats_;
};

}  // namespace driftscope::convert

namespace driftscope {

/// All formats of this build (generated: build/generated/format_registry.cpp).
[[nodiscard]] const convert::FormatTable& convert_formats();

}  // namespace driftscope
