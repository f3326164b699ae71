// An .onnx file as the commands need it: its bytes (sent to engines and browsers), the external data
// files it names, and the graph. Clients: all commands.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "native/server/run_in_browser.hpp"

namespace driftscope {

class ThreadPool;

struct ModelFile {
  std::filesystem::path path;
  std::shared_ptr<const Bytes> bytes;
  std::vector<JobAttachment> attachments;  ///< the files it names as external data, whole
  std::string sha256;
  Graph graph;  ///< shapes inferred, symbolic dimensions unbound
};

[[nodiscard]] Result<ModelFile> load_model_file(const std::filesystem::path& path);

/// The same without the files' bytes, for commands that run nothing.
struct GraphFile {
  std::string sha256;
  Graph graph;
};
[[nodiscard]] Result<GraphFile> load_graph_file(const std::filesystem::path& path,
                                                ThreadPool& threads);

}  // namespace driftscope
