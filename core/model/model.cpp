#include "core/model/model.hpp"

#include <fmt/format.h>

namespace driftscope {

std::string shape_text(const SymbolicShape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const Dimension& dimension : shape) {
    if (!text.empty()) text += 'x';
    if (dimension.known())
      text += fmt::format("{}", dimension.size);
    else
      text += dimension.symbol.empty() ? "?" : dimension.symbol;
  }
  return text;
}

}  // namespace driftscope
