#include "native/host/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/dataset/dataset.hpp"
#include "core/dataset/npy.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/trace/trace_file.hpp"
#include "native/host/sample_files.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

constexpr std::uint64_t default_seed = 42;

std::string input_names(const Graph& graph) {
  std::string names;
  for (const ValueId id : graph.inputs) names += (names.empty() ? "" : ", ") + graph.value_name(id);
  return names;
}

/// The last part of a path, also of one that ends in a slash.
std::string base_name(const std::string& path) {
  const auto normal = std::filesystem::path(path).lexically_normal();
  return (normal.has_filename() ? normal.filename() : normal.parent_path().filename()).string();
}

bool is_input(const Graph& graph, std::string_view name) {
  return std::any_of(graph.inputs.begin(), graph.inputs.end(),
                     [&](ValueId id) { return graph.values[id].name == name; });
}

/// input_0.pb, input_1.pb, … of an ONNX test data set; unnamed tensors take the graph's order.
Result<NamedInputs> read_test_data_set(const std::filesystem::path& folder, const Graph& graph) {
  NamedInputs tensors;
  while (true) {
    const auto path = folder / fmt::format("input_{}.pb", tensors.size());
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) break;
    DRIFTSCOPE_TRY(const Bytes bytes, read_file(path));
    auto tensor = read_tensor_proto(bytes);
    if (!tensor.ok()) return in_context(std::move(tensor).error(), path.string());
    if (tensor->name.empty() && tensors.size() < graph.inputs.size())
      tensor->name = graph.value_name(graph.inputs[tensors.size()]);
    tensors.push_back(*std::move(tensor));
  }
  if (tensors.empty())
    return bad_input(
        fmt::format("{}: the folder has no input_0.pb; an ONNX test data set is needed", folder.string()));
  return tensors;
}

/// Tensors of a file; a single unnamed one has the name "".
Result<NamedInputs> read_tensor_file(const std::filesystem::path& path, const Graph& graph) {
  const std::string extension = path.extension().string();
  DRIFTSCOPE_TRY(const Bytes bytes, read_file(path));
  const auto name_file = [&](Error error) { return in_context(std::move(error), path.string()); };
  if (extension == ".npy") {
    auto tensor = read_npy(bytes);
    if (!tensor.ok()) return name_file(std::move(tensor).error());
    return NamedInputs{{"", *std::move(tensor)}};
  }
  if (extension == ".pb") {
    auto tensor = read_tensor_proto(bytes);
    if (!tensor.ok()) return name_file(std::move(tensor).error());
    if (!is_input(graph, tensor->name)) tensor->name.clear();
    return NamedInputs{*std::move(tensor)};
  }
  if (extension != ".safetensors")
    return bad_input(fmt::format(
        "--input {}: unknown kind of file '{}'; expected .npy, .pb, .safetensors, .png, .jpg, .txt, a "
        "folder, idx:FILE#17, cifar10:FILE#17, imdb:DIR#17, images:DIR#17 or seed:42",
        path.string(), extension));
  auto trace = read_trace(bytes);
  if (!trace.ok()) return name_file(std::move(trace).error());
  NamedInputs wanted;
  for (NamedTensor& tensor : trace->tensors)
    if (is_input(graph, tensor.name)) wanted.push_back(std::move(tensor));
  if (wanted.empty())
    return bad_input(
        fmt::format("{}: contains none of the model's inputs ({})", path.string(), input_names(graph)));
  return wanted;
}

Result<std::uint64_t> parse_seed(std::string_view text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    return bad_input(fmt::format("--input seed:{}: a whole number is needed, as in seed:42", text));
  return seed;
}

Result<GivenInputs> read_source(const std::string& source, const ModelFile& model) {
  GivenInputs given;
  given.text = source;
  if (source.rfind("seed:", 0) == 0) {
    DRIFTSCOPE_TRY(const std::uint64_t seed, parse_seed(std::string_view(source).substr(5)));
    DRIFTSCOPE_TRY(given.tensors, seeded_inputs(model.graph, seed));
    given.text += " (random)";
    return given;
  }
  if (is_dataset_spec(source)) {
    DRIFTSCOPE_TRY(const DatasetSpec spec, parse_dataset_spec(source));
    if (!spec.sample)
      return bad_input(
          fmt::format("--input {0}: which sample? Write {0}#17, or --dataset for all of them", source));
    DRIFTSCOPE_TRY(const Dataset dataset, open_dataset(spec, model));
    DRIFTSCOPE_TRY(NamedTensor sample, dataset.sample(*spec.sample));
    given.label = dataset.label_text(*spec.sample);
    given.tensors.push_back(std::move(sample));
    return given;
  }
  if (is_sample_file(source)) {
    DRIFTSCOPE_TRY(NamedTensor sample, read_sample_file(source, model));
    given.tensors.push_back(std::move(sample));
    return given;
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(source, ignored)) {
    DRIFTSCOPE_TRY(given.tensors, read_test_data_set(source, model.graph));
  } else {
    DRIFTSCOPE_TRY(given.tensors, read_tensor_file(source, model.graph));
  }
  return given;
}

}  // namespace

Result<GivenInputs> read_inputs(const std::vector<std::string>& specs, const ModelFile& model) {
  if (specs.empty()) return read_source(fmt::format("seed:{}", default_seed), model);
  GivenInputs all;
  for (const std::string& spec : specs) {
    // NAME=SOURCE only when NAME is an input: a path may hold an equals sign as well.
    const std::size_t equals = spec.find('=');
    const std::string name = equals == std::string::npos ? "" : spec.substr(0, equals);
    const bool named = equals != std::string::npos && is_input(model.graph, name);
    std::error_code ignored;
    if (equals != std::string::npos && !named && !std::filesystem::exists(spec, ignored))
      return bad_input(fmt::format("--input {}: the model has no input '{}'; its inputs are {}", spec, name,
                                   input_names(model.graph)));
    DRIFTSCOPE_TRY(GivenInputs one, read_source(named ? spec.substr(equals + 1) : spec, model));
    if (named) {
      if (one.tensors.size() != 1)
        return bad_input(fmt::format("--input {}: contains {} tensors, one is needed for '{}'", spec,
                                     one.tensors.size(), name));
      one.tensors.front().name = name;
    }
    for (NamedTensor& tensor : one.tensors) all.tensors.push_back(std::move(tensor));
    all.text += (all.text.empty() ? "" : ", ") + one.text;
    if (!one.label.empty()) all.label = one.label;
  }
  return all;
}

Result<GivenDataset> read_dataset(const std::string& text, const ModelFile& model) {
  DRIFTSCOPE_TRY(const DatasetSpec spec, parse_dataset_spec(text));
  if (spec.sample)
    return bad_input(fmt::format("--dataset {}: a single sample is named; remove '#{}'", text, *spec.sample));
  if (model.graph.inputs.size() != 1)
    return unsupported(fmt::format("--dataset: {} has {} inputs ({}); a data set feeds exactly one",
                                   model.path.string(), model.graph.inputs.size(), input_names(model.graph)));
  DRIFTSCOPE_TRY(const Dataset dataset, open_dataset(spec, model));
  GivenDataset given;
  given.samples = dataset.size();
  given.labels = dataset.labels();
  given.class_names = dataset.class_names();
  given.text = fmt::format("{}, {} samples", base_name(spec.images), given.samples);
  DRIFTSCOPE_TRY(NamedTensor stacked, dataset.stacked(0, given.samples));
  given.stacked.push_back(std::move(stacked));
  return given;
}

}  // namespace driftscope
