// The formats of training curves. A format is a file in formats/: each FOO.cpp defines
// `void driftscope::curve_formats::foo::add_to(CurveFormatTable&)`; the table is generated from the folder at
// configure time, never edited. Clients: the command `curves`, the fuzzer. It reads no files.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/curves/curve.hpp"

namespace driftscope {

/// A file as it was given: errors and names of runs use its path.
struct CurveSource {
  std::string path;
  std::string run;  ///< what its curves are called where the file does not say: the file's or folder's name
  std::span<const std::byte> bytes;
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

struct CurveFormat {
  int order = 50;         ///< in which they are tried, ascending
  std::string_view name;  ///< "tensorboard"
  std::string_view what;  ///< for help and errors
  /// Whether the file looks like it; the first that says so reads it.
  bool (*fits)(const CurveSource& source) = nullptr;
  Result<CurveFile> (*read)(const CurveSource& source) = nullptr;
};

class CurveFormatTable {
 public:
  void add(CurveFormat format);
  [[nodiscard]] std::span<const CurveFormat> all() const { return formats_; }

 private:
  std::vector<CurveFormat> formats_;
};

/// All of this build (generated: build/generated/curve_format_registry.cpp).
[[nodiscard]] const CurveFormatTable& curve_format_table();

/// Points are in order, each curve has at least one, and each has a run and a metric that can be shown.
/// Errors begin with the path, and name the line or offset, what was expected and what is there.
[[nodiscard]] Result<CurveFile> read_curves(const CurveSource& source);

/// A decimal number of a text file; "nan" and "inf" as such. False: it is none.
[[nodiscard]] bool parse_curve_number(std::string_view text, double& value);

}  // namespace driftscope
