#include "native/host/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/sort_stably.hpp"
#include "core/dataset/dataset_format.hpp"
#include "core/inputs/fit_inputs.hpp"
#include "core/inputs/found_inputs.hpp"
#include "core/inputs/input_sizes.hpp"
#include "core/inputs/input_source.hpp"
#include "native/host/sample_files.hpp"

namespace driftscope {
namespace {

constexpr std::uint64_t default_seed = 42;

/// An item of a source, for the model's graph with the sizes that the user gave.
Result<InputItem> read_source(const std::string& spec, const ModelFile& model, const Graph& graph) {
  const Error which =
      bad_input(fmt::format("--input {0}: which sample? Write {0}#17, or --dataset for all of them", spec));
  if (is_dataset_spec(spec)) {  // before a large set is read
    DRIFTSCOPE_TRY(const DatasetSpec parsed, parse_dataset_spec(spec));
    if (!parsed.sample) return which;
  }
  InputSite site = input_site(model);
  site.graph = &graph;
  site.model = model.path.string();
  DRIFTSCOPE_TRY(const auto source, open_input_source(spec, site));
  if (source->size().value_or(1) > 1) return which;
  return source->item(0);
}

/// One --input: NAME=SOURCE or SOURCE.
struct Wanted {
  std::string spec;
  std::string name;  ///< empty: the source has the names
  std::string source;
  [[nodiscard]] bool is_seed() const { return source.starts_with("seed:"); }
};

Result<Wanted> parse_wanted(const std::string& spec, const Graph& graph) {
  // NAME=SOURCE only when NAME is an input: a path may hold an equals sign as well.
  const std::size_t equals = spec.find('=');
  if (equals == std::string::npos) return Wanted{spec, "", spec};
  const std::string name = spec.substr(0, equals);
  if (is_input(graph, name)) return Wanted{spec, name, spec.substr(equals + 1)};
  std::error_code ignored;
  if (!std::filesystem::exists(spec, ignored))
    return bad_input(fmt::format("--input {}: the model has no input '{}'; its inputs are {}", spec, name,
                                 input_names(graph)));
  return Wanted{spec, "", spec};
}

/// Only the tensor of this name: all, or the only one.
Status keep_named(InputItem& item, const Wanted& wanted) {
  if (wanted.is_seed())
    std::erase_if(item.tensors, [&](const NamedTensor& tensor) { return tensor.name != wanted.name; });
  if (item.tensors.size() != 1)
    return bad_input(fmt::format("--input {}: contains {} tensors, one is needed for '{}'", wanted.spec,
                                 item.tensors.size(), wanted.name));
  item.tensors.front().name = wanted.name;
  return {};
}

/// With the shapes of inputs that are there: the sizes of others may follow from them.
Graph with_shapes_of(const NamedInputs& given, Graph graph) {
  for (const NamedTensor& one : given) {
    if (!is_input(graph, one.name)) continue;
    const std::vector<std::string> spec = {
        fmt::format("{}{}={}", shape_prefix, one.name, shape_text(one.tensor.shape()))};
    // What does not fit is said when inputs are bound.
    if (auto with = with_input_sizes(graph, spec); with.ok()) graph = *std::move(with);
  }
  return graph;
}

class Reading {
 public:
  Reading(const ModelFile& model, Graph graph) : model_(model), graph_(std::move(graph)) {}

  Status read(const Wanted& wanted) {
    const Graph graph = wanted.is_seed() ? with_shapes_of(all_.tensors, graph_) : graph_;
    DRIFTSCOPE_TRY(InputItem one, read_source(wanted.source, model_, graph));
    if (!wanted.name.empty()) DRIFTSCOPE_CHECK(keep_named(one, wanted));
    if (wanted.is_seed() && wanted.name.empty()) {
      std::erase_if(one.tensors, [&](const NamedTensor& tensor) {
        return std::ranges::find(all_.tensors, tensor.name, &NamedTensor::name) != all_.tensors.end();
      });
      all_.chosen = one.chosen;
    }
    if (one.chosen)
      for (std::string& spec : size_specs(*one.chosen, one.tensors))
        all_.found_sizes.push_back(std::move(spec));
    for (NamedTensor& tensor : one.tensors) all_.tensors.push_back(std::move(tensor));
    say(one.text);
    if (!one.label_text.empty()) all_.label = one.label_text;
    return {};
  }

  void say(const std::string& text) { all_.text += (all_.text.empty() ? "" : ", ") + text; }

  Result<GivenInputs> take() {
    DRIFTSCOPE_TRY(all_.tensors, fit_inputs(graph_, std::move(all_.tensors)));
    return std::move(all_);
  }

 private:
  const ModelFile& model_;
  Graph graph_;
  GivenInputs all_;
};

}  // namespace

Result<GivenInputs> read_inputs(const std::vector<std::string>& specs, const ModelFile& model) {
  DRIFTSCOPE_TRY(Graph graph, with_input_sizes(model.graph, specs));
  std::vector<Wanted> sources;
  for (const std::string& spec : specs) {
    if (is_size_spec(spec)) continue;
    DRIFTSCOPE_TRY(Wanted one, parse_wanted(spec, graph));
    sources.push_back(std::move(one));
  }
  const std::string usual = fmt::format("seed:{}", default_seed);
  if (sources.empty()) sources.push_back({usual, "", usual});
  // Seeds last: they make what the others leave, and know the sizes of those.
  sort_stably(sources, [](const Wanted& one) { return !one.is_seed() ? 0 : !one.name.empty() ? 1 : 2; });
  Reading reading(model, std::move(graph));
  for (const Wanted& one : sources) DRIFTSCOPE_CHECK(reading.read(one));
  for (const std::string& spec : specs)
    if (is_size_spec(spec)) reading.say(spec.substr(spec.find(':') + 1));
  return reading.take();
}

Result<GivenDataset> read_dataset(const std::string& text, const ModelFile& model) {
  DRIFTSCOPE_TRY(const DatasetSpec spec, parse_dataset_spec(text));
  if (spec.sample)
    return bad_input(fmt::format("--dataset {}: a single sample is named; remove '#{}'", text, *spec.sample));
  if (model.graph.inputs.size() != 1)
    return unsupported(fmt::format("--dataset: {} has {} inputs ({}); a data set feeds exactly one",
                                   model.path.string(), model.graph.inputs.size(), input_names(model.graph)));
  DRIFTSCOPE_TRY(const auto source, open_input_source(text, input_site(model)));
  GivenDataset given;
  given.samples = *source->size();
  given.labels.assign(source->labels().begin(), source->labels().end());
  given.class_names = source->class_names();
  given.text = source->text();
  DRIFTSCOPE_TRY(given.stacked, stacked_items(*source, 0, given.samples));
  return given;
}

}  // namespace driftscope
