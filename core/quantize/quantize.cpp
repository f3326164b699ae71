#include "core/quantize/quantize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/quantize/fold_normalization.hpp"
#include "core/quantize/raise_opset.hpp"

namespace driftscope::quantize {
namespace {

constexpr std::array<std::string_view, 8> quantized_operators = {
    "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv",
    "QLinearMatMul",  "MatMulInteger",    "ConvInteger",           "MatMulNBits"};

Status check_float(const Model& model) {
  for (const ModelNode& node : model.graph.nodes)
    if (std::ranges::find(quantized_operators, node.op_type) != quantized_operators.end())
      return bad_input(
          fmt::format("the model is quantized already: node {} is a {}; give the float32 model that it "
                      "was made of",
                      in_quotes(node.name.empty() ? node.outputs[0] : node.name), node.op_type));
  return {};
}

/// Why there is nothing to do.
Error nothing_in(const Model& model, const Mode& mode) {
  std::map<DType, std::int64_t> matrices;
  for (const NamedTensor& one : model.graph.initializers)
    if (one.tensor.rank() >= 2) ++matrices[one.tensor.dtype()];
  std::string found = "it has no constants of two or more dimensions";
  for (const auto& [dtype, count] : matrices)
    if (dtype != DType::float32)
      found =
          fmt::format("it has {} constants of {}, and only float32 is quantized", count, dtype_name(dtype));
  if (matrices.contains(DType::float32))
    found =
        "its float32 constants are not weights of Conv, ConvTranspose, Gemm, MatMul, Gather, LSTM, GRU or "
        "RNN";
  return bad_input(fmt::format("--mode {}: the model has nothing to quantize: {}", mode.name, found));
}

/// Levenshtein's distance.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

Result<Quantizer> Quantizer::open(Model model, const Mode& mode, bool per_channel) {
  DRIFTSCOPE_CHECK(check_float(model));
  if (per_channel && !mode.has_per_channel)
    return bad_input(
        fmt::format("--per-channel: {} has its scales already as fine as they get; it is for modes {}",
                    mode.name, "int8-dynamic and int8-static"));
  Quantizer made;
  made.mode_ = &mode;
  made.per_channel_ = per_channel;
  DRIFTSCOPE_TRY(Graph graph, build_graph(model));
  DRIFTSCOPE_TRY(graph, infer_shapes(std::move(graph)));
  std::map<std::string, int> ranks;
  for (const Value& value : graph.values) {
    made.types_[value.name] = value.dtype;
    if (value.shape) ranks[value.name] = static_cast<int>(value.shape->size());
  }
  const std::int64_t opset = per_channel && mode.opset_per_channel > 0 ? mode.opset_per_channel : mode.opset;
  DRIFTSCOPE_CHECK(raise_opset(model, opset, ranks));
  if (mode.folds_normalization) (void)fold_normalization(model, std::move(graph));
  made.model_ = std::move(model);
  DRIFTSCOPE_TRY(const ModelEdit edit, made.begin());
  made.layers_ = mode.layers(edit);
  if (made.layers_.empty()) return nothing_in(made.model_, mode);
  if (mode.values != nullptr) made.values_ = mode.values(edit);
  for (const ModelNode& node : edit.nodes()) {
    made.nodes_.push_back(node.name);
    if (!node.outputs.empty()) made.outputs_[node.name] = node.outputs[0];
  }
  return made;
}

Result<ModelEdit> Quantizer::begin() const {
  DRIFTSCOPE_TRY(ModelEdit edit, ModelEdit::begin(model_));
  edit.set_types(types_);
  edit.require_ir(mode_->ir);
  return edit;
}

Result<Quantizer::Made> Quantizer::make(const std::set<std::string>& keep,
                                        const std::map<std::string, ValueRange>& ranges) const {
  DRIFTSCOPE_TRY(ModelEdit edit, begin());
  const ModeOptions options{per_channel_, keep, &ranges};
  std::vector<std::string> notes;
  DRIFTSCOPE_CHECK(mode_->apply(edit, options, notes));
  return Made{std::move(edit).finish(), std::move(notes)};
}

Status check_kept(const std::vector<std::string>& keep, const Quantizer& quantizer) {
  for (const std::string& name : keep) {
    if (std::ranges::find(quantizer.nodes(), name) != quantizer.nodes().end()) continue;
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const std::string& layer : quantizer.layers()) near.emplace_back(edits(name, layer), layer);
    std::ranges::sort(near);
    if (near.size() > 3) near.resize(3);
    std::vector<std::string> names;
    for (const auto& [distance, layer] : near) names.push_back(in_quotes(layer));
    return bad_input(
        fmt::format("--keep {}: the model has no node of this name; the nearest that {} quantizes: {}",
                    in_quotes(name), quantizer.mode().name, fmt::join(names, ", ")));
  }
  return {};
}

}  // namespace driftscope::quantize
