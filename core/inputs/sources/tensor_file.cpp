// Tensors of a file: .npy and .pb hold one, .safetensors (a trace) those that have the names of inputs.
#include <fmt/format.h>

#include "core/dataset/npy.hpp"
#include "core/inputs/input_source.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/trace/trace_file.hpp"

namespace driftscope::input_sources::tensor_file {
namespace {

using Bytes = std::vector<std::byte>;

Result<NamedInputs> read_npy_file(const Bytes& bytes, const Graph& /*graph*/) {
  DRIFTSCOPE_TRY(Tensor tensor, read_npy(bytes));
  return NamedInputs{{"", std::move(tensor)}};
}

Result<NamedInputs> read_pb_file(const Bytes& bytes, const Graph& graph) {
  DRIFTSCOPE_TRY(NamedTensor tensor, read_tensor_proto(bytes));
  if (!is_input(graph, tensor.name)) tensor.name.clear();
  return NamedInputs{std::move(tensor)};
}

Result<NamedInputs> read_trace_file(const Bytes& bytes, const Graph& graph) {
  DRIFTSCOPE_TRY(Trace trace, read_trace(bytes));
  NamedInputs wanted;
  for (NamedTensor& tensor : trace.tensors)
    if (is_input(graph, tensor.name)) wanted.push_back(std::move(tensor));
  if (wanted.empty())
    return bad_input(fmt::format("contains none of the model's inputs ({})", input_names(graph)));
  return wanted;
}

struct Reader {
  std::string_view extension;
  Result<NamedInputs> (*read)(const Bytes& bytes, const Graph& graph);
};
constexpr Reader readers[] = {
    {".npy", read_npy_file}, {".pb", read_pb_file}, {".safetensors", read_trace_file}};

const Reader* reader_of(std::string_view path) {
  for (const Reader& reader : readers)
    if (path.ends_with(reader.extension)) return &reader;
  return nullptr;
}

Result<std::unique_ptr<InputSource>> open(const std::string& path, const InputSite& site) {
  DRIFTSCOPE_TRY(const Bytes bytes, site.files.read(path));
  auto tensors = reader_of(path)->read(bytes, *site.graph);
  if (!tensors.ok()) return in_context(std::move(tensors).error(), path);
  return single_item({*std::move(tensors), path, ""});
}

}  // namespace

void add_to(InputSourceTable& table) {
  table.add({.order = 50,
             .form = ".npy, .pb, .safetensors",
             .accepts = [](const std::string& path, const InputSite&) { return reader_of(path) != nullptr; },
             .open = open});
}

}  // namespace driftscope::input_sources::tensor_file
