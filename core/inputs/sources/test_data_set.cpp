// A folder of an ONNX test data set: input_0.pb, input_1.pb, …; unnamed tensors take the graph's order.
#include <fmt/format.h>

#include <algorithm>

#include "core/inputs/input_source.hpp"
#include "core/model/onnx_reader.hpp"

namespace driftscope::input_sources::test_data_set {
namespace {

Result<std::unique_ptr<InputSource>> open(const std::string& folder, const InputSite& site) {
  DRIFTSCOPE_TRY(const std::vector<FolderEntry> entries, site.files.list(folder));
  const Graph& graph = *site.graph;
  NamedInputs tensors;
  while (true) {
    const std::string name = fmt::format("input_{}.pb", tensors.size());
    if (std::ranges::none_of(entries, [&](const FolderEntry& entry) { return entry.name == name; })) break;
    const std::string path = folder + (folder.ends_with('/') ? "" : "/") + name;
    DRIFTSCOPE_TRY(const std::vector<std::byte> bytes, site.files.read(path));
    auto tensor = read_tensor_proto(bytes);
    if (!tensor.ok()) return in_context(std::move(tensor).error(), path);
    if (tensor->name.empty() && tensors.size() < graph.inputs.size())
      tensor->name = graph.value_name(graph.inputs[tensors.size()]);
    tensors.push_back(*std::move(tensor));
  }
  if (tensors.empty())
    return bad_input(
        fmt::format("{}: the folder has no input_0.pb; an ONNX test data set is needed", folder));
  return single_item({std::move(tensors), folder, ""});
}

}  // namespace

void add_to(InputSourceTable& table) {
  table.add({.order = 30,
             .form = "a folder",
             .accepts = [](const std::string& path, const InputSite& site) { return site.is_folder(path); },
             .open = open});
}

}  // namespace driftscope::input_sources::test_data_set
