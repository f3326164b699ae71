#include "core/study/measure.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

constexpr std::array<std::string_view, 14> kind_names = {
    "-",          "accuracy", "time",    "first",         "load",   "memory",     "size",
    "difference", "relative", "success", "misclassified", "making", "robustness", "converted-robustness"};

}  // namespace

Result<Measure> parse_measure(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  for (std::size_t i = 0; i < kind_names.size(); ++i)
    if (parts[0] == kind_names[i] && parts.size() <= 3) {
      parts.resize(3);
      return Measure{static_cast<MeasureKind>(i), parts[1], parts[2]};
    }
  return bad_input(fmt::format("{} is no measure; expected MEASURE[:DATA[:VARIANT]] with one of {}",
                               in_quotes(text), fmt::join(kind_names, ", ")));
}

}  // namespace driftscope
