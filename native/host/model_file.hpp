// An .onnx file as the commands need it: its bytes (sent to engines and browsers), the external data
// files it names, and the graph. Clients: all commands.
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/model/onnx_reader.hpp"
#include "native/browser/run_in_browser.hpp"
#include "native/os/files.hpp"

namespace driftscope {

struct ModelFile {
  std::filesystem::path path;
  std::shared_ptr<const Bytes> bytes;
  std::vector<JobAttachment> attachments;  ///< the files it names as external data, whole
  std::string sha256;
  Graph graph;  ///< shapes inferred, symbolic dimensions unbound
};

/// With Weights::deferred large ones stay in `bytes` alone until the graph is asked for them, which is the
/// business of one thread; the graph keeps the bytes.
[[nodiscard]] Result<ModelFile> load_model_file(const std::filesystem::path& path,
                                                Weights weights = Weights::in_memory);

/// The SHA-256 of what a source holds, on a thread of its own when there is to be more than one: verifying
/// need not wait for it.
class ModelHash {
 public:
  ModelHash(ByteSource bytes, bool beside);
  [[nodiscard]] bool known() const;
  /// Waits where it is not known yet.
  [[nodiscard]] const std::string& get() const { return hash_.get(); }

 private:
  std::shared_future<std::string> hash_;
};

/// The same for commands that run nothing: large weights stay in the file until they are read.
struct GraphFile {
  MappedFile file;
  ModelHash sha256;
  Graph graph;
};
[[nodiscard]] Result<GraphFile> load_graph_file(const std::filesystem::path& path, int threads);

}  // namespace driftscope
