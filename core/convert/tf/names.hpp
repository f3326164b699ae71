// Names that TensorFlow allows, each once. Clients: the lowering.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace driftscope::tf {

class Names {
 public:
  /// `wanted` with every character that TensorFlow's names of nodes lack ([A-Za-z0-9.][A-Za-z0-9_.\\-/]*)
  /// replaced by "_", and "_2", "_3", … behind it where the name is taken.
  [[nodiscard]] std::string take(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
};

}  // namespace driftscope::tf
