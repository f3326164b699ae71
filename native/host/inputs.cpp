#include "native/host/inputs.hpp"

#include <fmt/format.h>

#include "core/dataset/dataset_format.hpp"
#include "core/inputs/input_source.hpp"
#include "native/host/sample_files.hpp"

namespace driftscope {
namespace {

constexpr std::uint64_t default_seed = 42;

Result<InputItem> read_source(const std::string& spec, const ModelFile& model) {
  const Error which =
      bad_input(fmt::format("--input {0}: which sample? Write {0}#17, or --dataset for all of them", spec));
  if (is_dataset_spec(spec)) {  // before a large set is read
    DRIFTSCOPE_TRY(const DatasetSpec parsed, parse_dataset_spec(spec));
    if (!parsed.sample) return which;
  }
  DRIFTSCOPE_TRY(const auto source, open_input_source(spec, input_site(model)));
  if (source->size().value_or(1) > 1) return which;
  return source->item(0);
}

}  // namespace

Result<GivenInputs> read_inputs(const std::vector<std::string>& specs, const ModelFile& model) {
  GivenInputs all;
  const auto add = [&](InputItem one) {
    for (NamedTensor& tensor : one.tensors) all.tensors.push_back(std::move(tensor));
    all.text += (all.text.empty() ? "" : ", ") + one.text;
    if (!one.label_text.empty()) all.label = one.label_text;
  };
  if (specs.empty()) {
    DRIFTSCOPE_TRY(InputItem one, read_source(fmt::format("seed:{}", default_seed), model));
    add(std::move(one));
  }
  for (const std::string& spec : specs) {
    // NAME=SOURCE only when NAME is an input: a path may hold an equals sign as well.
    const std::size_t equals = spec.find('=');
    const std::string name = equals == std::string::npos ? "" : spec.substr(0, equals);
    const bool named = equals != std::string::npos && is_input(model.graph, name);
    std::error_code ignored;
    if (equals != std::string::npos && !named && !std::filesystem::exists(spec, ignored))
      return bad_input(fmt::format("--input {}: the model has no input '{}'; its inputs are {}", spec, name,
                                   input_names(model.graph)));
    DRIFTSCOPE_TRY(InputItem one, read_source(named ? spec.substr(equals + 1) : spec, model));
    if (named) {
      if (one.tensors.size() != 1)
        return bad_input(fmt::format("--input {}: contains {} tensors, one is needed for '{}'", spec,
                                     one.tensors.size(), name));
      one.tensors.front().name = name;
    }
    add(std::move(one));
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
