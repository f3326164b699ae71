// A model file for the commands: its bytes (sent to engines and browsers), the external data
// files it names, and the graph. Clients: all commands.
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/model/onnx_reader.hpp"
#include "native/browser/run_in_browser.hpp"
#include "native/os/files.hpp"

namespace driftscope {

struct ModelFile {
  std::filesystem::path path;  ///< what can be opened again: the model's file, or a kept comparison
  std::string name;            ///< the model's own file name, for people
  /// Of a kept comparison, where no description lies beside the model; nothing: as that says.
  std::optional<std::vector<std::string>> class_names = {};
  SharedBytes bytes;
  std::vector<JobAttachment> attachments;  ///< the files it names as external data, whole
  std::string sha256;
  Graph graph;  ///< shapes inferred, symbolic dimensions unbound
  /// Of a model in another format, which became ONNX: `bytes` and `sha256` are then those of the ONNX model.
  std::string kind = "ONNX";
  /// Of such a model: the values that it has itself.
  std::optional<std::set<std::string, std::less<>>> values = {};
  std::int64_t file_bytes = 0;  ///< as it lies on disk, with the files that belong to it
};

/// With Weights::deferred large ones stay in `bytes` until they are read from the graph, which must happen on
/// one thread; the graph keeps the bytes alive.
[[nodiscard]] Result<ModelFile> load_model_file(const std::filesystem::path& path,
                                                Weights weights = Weights::in_memory);

/// Of an .onnx file that is in memory, with the files of external data that it names; `path`: where it came
/// from.
[[nodiscard]] Result<ModelFile> load_model_bytes(const std::filesystem::path& path, std::string name,
                                                 SharedBytes bytes, std::vector<JobAttachment> attachments,
                                                 Weights weights = Weights::in_memory);

/// The SHA-256 of a source's contents, on a separate thread if there may be more than one: verifying
/// need not wait for it.
class ModelHash {
 public:
  ModelHash(ByteSource bytes, bool beside);
  /// One that is known.
  explicit ModelHash(std::string hash);
  [[nodiscard]] bool known() const;
  /// Waits until it is known.
  [[nodiscard]] const std::string& get() const { return hash_.get(); }

 private:
  std::shared_future<std::string> hash_;
};

/// What is odd about a model: all that lets it run all the same, or why it cannot be read.
struct ModelExamination {
  std::string kind = "ONNX";
  std::string sha256;
  std::vector<ModelNote> notes;
  std::optional<Error> error;
  /// Where the operators and shapes are readable, even if weights are not: files that are missing count as
  /// zeros. It keeps the bytes alive, which are read when weights are.
  std::optional<Graph> graph = {};
  struct External {
    std::string location;
    std::string problem;  ///< why it cannot be read; empty: it is there
  };
  std::vector<External> external = {};  ///< the files that it names as external data
  std::int64_t file_bytes = 0;          ///< as it lies on disk, with those files
};
/// Errors of reading the file itself; what is wrong with the model is part of the result.
[[nodiscard]] Result<ModelExamination> examine_model_file(const std::filesystem::path& path);

/// The same for commands that run nothing: large weights stay in the file until they are read.
struct GraphFile {
  MappedFile file;
  ModelHash sha256;
  Graph graph;
};
[[nodiscard]] Result<GraphFile> load_graph_file(const std::filesystem::path& path, int threads);

}  // namespace driftscope
