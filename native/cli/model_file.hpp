// An .onnx file as the commands need it: its bytes (sent to engines and browsers), the external data
// files it names, and the graph. Clients: all commands.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"

namespace driftscope {

/// A file that the model names as external data, whole.
struct Attachment {
  std::string location;
  std::vector<std::byte> bytes;
};

struct ModelFile {
  std::filesystem::path path;
  std::vector<std::byte> bytes;
  std::vector<Attachment> attachments;
  std::string sha256;
  Graph graph;  ///< shapes inferred, symbolic dimensions unbound
};

[[nodiscard]] Result<ModelFile> load_model_file(const std::filesystem::path& path);

}  // namespace driftscope
