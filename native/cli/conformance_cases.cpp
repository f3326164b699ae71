#include "native/cli/conformance_cases.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>

#include "core/model/onnx_reader.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sorted_folders(const fs::path& parent) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored))
    if (entry.is_directory(ignored)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// NumPy has no bfloat16: the cases carry its bits as uint16.
Result<Tensor> as_declared(const Tensor& tensor, DType declared) {
  if (declared != DType::bfloat16 || tensor.dtype() != DType::uint16) return tensor;
  return Tensor::from_bytes(declared, tensor.shape(), tensor.bytes());
}

/// input_0.pb, input_1.pb, … in the order of the graph's inputs (or outputs).
Result<NamedInputs> read_tensors(const fs::path& folder, const std::string& prefix, const Graph& graph,
                                 const std::vector<ValueId>& ids) {
  NamedInputs tensors;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const fs::path path = folder / fmt::format("{}_{}.pb", prefix, i);
    std::error_code ignored;
    if (!fs::exists(path, ignored)) continue;
    DRIFTSCOPE_TRY(const Bytes bytes, read_file(path));
    auto tensor = read_tensor_proto(bytes);
    if (!tensor.ok()) return in_context(std::move(tensor).error(), path.filename().string());
    DRIFTSCOPE_TRY(Tensor typed, as_declared(tensor->tensor, graph.values[ids[i]].dtype));
    tensors.push_back({graph.values[ids[i]].name, std::move(typed)});
  }
  return tensors;
}

/// For these any result is right, so none can be expected.
Status check_deterministic(const Graph& graph) {
  for (const Node& node : graph.nodes)
    if (node.op_type == "Bernoulli" || node.op_type == "Multinomial" || node.op_type.starts_with("Random"))
      return unsupported(node.op_type + " draws random numbers: there is no result to expect");
  return {};
}

/// Some cases declare a shape that their own data does not have.
Status check_fits(const Graph& graph, const NamedInputs& inputs) {
  for (const NamedTensor& input : inputs) {
    const auto id = graph.find_value(input.name);
    const auto declared = id ? graph.values[*id].static_shape() : std::nullopt;
    if (declared && *declared != input.tensor.shape())
      return unsupported(
          fmt::format("the case contradicts itself: it declares input {} with shape {}, its data has {}",
                      input.name, shape_text(*declared), shape_text(input.tensor.shape())));
  }
  return {};
}

Status load_into(ConformanceCase& loaded, const fs::path& folder) {
  DRIFTSCOPE_TRY(loaded.model, load_model_file(folder / "model.onnx"));
  const Graph& graph = loaded.model.graph;
  DRIFTSCOPE_CHECK(check_deterministic(graph));
  for (const ModelNote& note : graph.notes)  // the case expects it all the same
    if (note.kind == NoteKind::output_type) return unsupported(note_text(note));
  for (const fs::path& set : sorted_folders(folder)) {
    if (!set.filename().string().starts_with("test_data_set_")) continue;
    ConformanceSet& read = loaded.sets.emplace_back();
    DRIFTSCOPE_TRY(read.inputs, read_tensors(set, "input", graph, graph.inputs));
    DRIFTSCOPE_CHECK(check_fits(graph, read.inputs));
    DRIFTSCOPE_TRY(read.wanted, read_tensors(set, "output", graph, graph.outputs));
    if (read.wanted.empty()) return bad_input("its data set holds no expected output");
  }
  if (loaded.sets.empty()) return bad_input("the case has no data set");
  return {};
}

}  // namespace

fs::path conformance_folder() {
  const char* given = std::getenv("DRIFTSCOPE_ONNX_DATA");
  return given != nullptr ? given : "/usr/share/libonnx-testdata/data";
}

Result<std::vector<fs::path>> find_cases(const fs::path& folder, const std::string& filter) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    return missing_error(
        fmt::format("the ONNX conformance cases are not at {}; './tools/setup' installs them (package "
                    "libonnx-testdata), --data names another folder",
                    folder.string()));
  std::vector<fs::path> cases;
  bool any = false;
  for (const fs::path& family : sorted_folders(folder))
    for (const fs::path& one : sorted_folders(family)) {
      if (!fs::exists(one / "model.onnx", ignored)) continue;
      any = true;
      const std::string name = one.filename().string();
      if (filter.empty() || fnmatch(filter.c_str(), name.c_str(), 0) == 0) cases.push_back(one);
    }
  if (cases.empty())
    return bad_input(
        any ? fmt::format("no case matches --filter '{}'", filter)
            : fmt::format("{} holds no cases: expected <family>/<case>/model.onnx", folder.string()));
  return cases;
}

ConformanceCase load_case(const fs::path& folder) {
  ConformanceCase loaded;
  loaded.family = folder.parent_path().filename().string();
  loaded.name = folder.filename().string();
  if (auto status = load_into(loaded, folder); !status.ok()) {
    loaded.unusable = std::move(status).error();
    // The message need not name the file: the case is named with it.
    const std::string prefix = (folder / "model.onnx").string() + ": ";
    if (loaded.unusable->message.starts_with(prefix)) loaded.unusable->message.erase(0, prefix.size());
  }
  return loaded;
}

}  // namespace driftscope
