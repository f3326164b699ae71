// An ONNX model's original bytes, for an engine that is another runtime and reads the model itself.
// Made by the session's load, which keeps it only for such an engine.
#pragma once

#include <string>
#include <vector>

#include "core/base/shared_bytes.hpp"

namespace driftscope {

struct SourceFile {
  std::string name;  ///< as the model names it
  SharedBytes bytes;
};

struct ModelSource {
  SharedBytes model;              ///< the .onnx file
  std::vector<SourceFile> files;  ///< its external data
};

}  // namespace driftscope
