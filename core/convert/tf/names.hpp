// Names that TensorFlow allows, each once. Clients: the lowering.
#pragma once

#include <string>
#include <string_view>

#include "core/base/unique_names.hpp"

namespace driftscope::tf {

class Names {
 public:
  /// `wanted` with every character that TensorFlow's names of nodes lack ([A-Za-z0-9.][A-Za-z0-9_.\\-/]*)
  /// replaced by "_", and "_2", "_3", … behind it where the name is taken.
  [[nodiscard]] std::string take(std::string_view wanted);

 private:
  UniqueNames taken_;
};

}  // namespace driftscope::tf
