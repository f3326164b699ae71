// How the range of an activation is chosen from what it was on the calibration data. A method is a file in
// methods/: each FOO.cpp defines `void driftscope::quantize::methods::foo::add_to(MethodTable&)`; the table
// is generated from the folder at configure time, never edited. Client: calibrate.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/quantize/mode.hpp"

namespace driftscope::quantize {

/// What is kept of a value: its extremes, and how many elements fell into each of equally wide bins of
/// −largest to largest, largest being the greatest magnitude.
struct Observed {
  ValueRange extremes;
  std::vector<std::int64_t> bins;  ///< none for methods that need none

  [[nodiscard]] float largest() const;
  /// Of edge i from 0 to the number of bins, as numpy.histogram has it for float32.
  [[nodiscard]] float edge(std::size_t i) const;
  /// The bin of x, which lies within the extremes.
  [[nodiscard]] std::size_t bin_of(float x) const;
};

struct MethodOptions {
  double percentile = 99.999;  ///< share of the elements inside the range, in percent
};

struct Method {
  int order = 50;  ///< in lists, ascending
  std::string name;
  std::string summary;
  std::size_t bins = 0;  ///< how many it needs; 0: extremes alone
  ValueRange (*range)(const Observed& observed, const MethodOptions& options) = nullptr;
};

class MethodTable {
 public:
  void add(Method method);
  /// In their order.
  [[nodiscard]] std::span<const Method> all() const { return methods_; }

 private:
  std::vector<Method> methods_;
};

/// All of this build (generated: build/generated/quantize_method_registry.cpp).
[[nodiscard]] const MethodTable& method_table();
[[nodiscard]] std::string method_names();
/// Or an error that lists them.
[[nodiscard]] Result<const Method*> find_method(std::string_view name);

}  // namespace driftscope::quantize
