// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/derivation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "core/base/rng.hpp"
#include "core/graph/load_constants.hpp"
#include "core/numerics/rounding.hpp"
#include "core/numerics/subnormal_rows.hpp"
#include "core/verify/judgeable.hpp"
#include "core/verify/quantized_bias.hpp"
#include "core/verify/rounding_noise.hpp"

namespace driftscope {
namespace {

// Half a unit in the last place of float16 or bfloat16, where an engine rounds only what it records.
Result<Evaluated<Bounded>> lift_rounded(const Tensor& tensor, const ErrorModel& model) {
  DRIFTSCOPE_TRY(Evaluated<Bounded> lifted, lift<Bounded>(tensor));
  const ErrorModel narrow = error_model_for(model, tensor.dtype());
  for (Bounded& x : lifted.real)
    if (std::isfinite(x.value)) {
      const double half = rounding_error(narrow, std::fabs(x.value));
      x = Bounded(x.value, half, half);
    }
  return lifted;
}

[[nodiscard]] bool may_hold_subnormals(const Tensor& tensor) {
  if (tensor.dtype() != DType::float32) return is_floating(tensor.dtype());
  return std::ranges::any_of(tensor.values<float>(),
                             [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; });
}

// The engine's input: exactly the recorded tensor, except that subnormals may be flushed to zero.
Result<Evaluated<Bounded>> lift_recorded(const Tensor& tensor, bool computed, const ErrorModel& model) {
  if (is_narrow_floating(tensor.dtype()) && computed && model.records_rounded)
    return lift_rounded(tensor, model);
  // Factors that are exactly known are multiplied much faster.
  if (!model.flushes_subnormals || !may_hold_subnormals(tensor)) return known<Bounded>(tensor);
  DRIFTSCOPE_TRY(Evaluated<Bounded> lifted, lift<Bounded>(tensor));
  for (Bounded& x : lifted.real) {
    const double size = std::fabs(x.value);
    if (size > 0.0 && size < static_cast<double>(std::numeric_limits<float>::min()))
      x = Bounded(x.value, size, size);
  }
  return lifted;
}

// The chance that two nonzero elements have equal magnitude; nothing when all are 0.
std::optional<double> equal_pair_chance(std::span<const float> values) {
  constexpr std::size_t max_compared = std::size_t{1} << 16;
  const std::size_t step = values.size() / max_compared + 1;
  std::vector<float> sizes;
  for (std::size_t i = 0; i < values.size(); i += step)
    if (values[i] != 0.0f && std::isfinite(values[i])) sizes.push_back(std::fabs(values[i]));
  if (sizes.empty()) return std::nullopt;
  std::sort(sizes.begin(), sizes.end());
  double pairs = 0.0;
  for (std::size_t begin = 0, end = 0; begin < sizes.size(); begin = end) {
    while (end < sizes.size() && sizes[end] == sizes[begin]) ++end;
    pairs += static_cast<double>(end - begin) * static_cast<double>(end - begin);
  }
  return pairs / (static_cast<double>(sizes.size()) * static_cast<double>(sizes.size()));
}

// Whether a small error may become a large one; `outputs` are the node's results.
bool jumps(const Node& node, std::span<const Evaluated<Bounded>> outputs) {
  static constexpr std::array names = {"Ceil",   "Floor", "Hardmax",         "Mod",  "Round",
                                       "Shrink", "Sign",  "ThresholdedRelu", "TopK", "Unique"};
  if (node.op_type == "Shape" || node.op_type == "Size") return false;
  return !node.subgraphs.empty() || std::ranges::find(names, node.op_type) != names.end() ||
         std::ranges::any_of(outputs, [](const Evaluated<Bounded>& output) {
           return output.dtype != DType::undefined && !is_floating(output.dtype);
         });
}

/// Of a value that is stored between two nodes: those that only compare numbers do not note it.
Overflow range_of(std::span<const Bounded> values, const ErrorModel& model) {
  Overflow worst = Overflow::none;
  for (const Bounded& x : values) {
    if (!std::isfinite(x.value) || !(std::fabs(x.value) + x.worst > model.largest)) continue;
    if (std::fabs(x.value) > model.largest) return Overflow::certain;
    worst = Overflow::possible;
  }
  return worst;
}

}  // namespace

RecordedValues::RecordedValues(const Graph& graph, const TraceView& trace)
    : trace_(&trace), places_(graph.values.size(), absent) {
  std::unordered_map<std::string_view, ValueId> ids;
  for (ValueId id = 0; id < graph.values.size(); ++id) ids.emplace(graph.values[id].name, id);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const auto found = ids.find(trace[i].name);
    if (found == ids.end())
      ++unmatched_;
    else
      places_[found->second] = i;
  }
}

bool Derivation::is_known(ValueId value) const {
  return graph_->values[value].constant || (*recorded_)[value] != nullptr;
}

bool Derivation::is_computed(ValueId value) const {
  return !graph_->values[value].constant && graph_->values[value].producer != no_node;
}

// Deferred constants stay deferred, so that only the weights of one node are in memory at a time; those that
// are mapped take none.
Result<Tensor> Derivation::known_tensor(ValueId value) const {
  const auto& constant = graph_->values[value].constant;
  if (!constant) return recorded_->load(value);
  if (constant->in_memory() || constant->lies_in_place()) return *constant;
  DRIFTSCOPE_TRY(Tensor read,
                 Tensor::unwritten(constant->dtype(), constant->shape(), graph_->values[value].name));
  constant->copy_bytes(0, read.mutable_bytes());
  return read;
}

Result<Derivation> Derivation::plan(const Graph& graph, const RecordedValues& recorded,
                                    const ErrorModel& model) {
  Derivation result(graph, recorded, model);
  std::vector<bool> wanted(graph.values.size());
  for (auto id = static_cast<NodeId>(graph.nodes.size()); id-- > 0;) {
    const Node& node = graph.nodes[id];
    bool needed = false;
    for (const ValueId output : node.outputs)
      needed = needed || (output != no_value && (wanted[output] || recorded[output] != nullptr));
    if (!needed) continue;
    result.nodes_.push_back(id);
    if (!node.opaque.empty()) continue;  // it is not computed again
    for (const ValueId input : node.reads()) {
      if (input == no_value || result.is_known(input)) continue;
      if (graph.values[input].producer == no_node)
        return bad_input(fmt::format(
            "the trace does not contain the input \"{}\" of the graph, which node {} ({}) reads; record "
            "the inputs as well",
            graph.values[input].name, node.name, node.op_type));
      wanted[input] = true;
      ++result.uses_[input];
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      if (input == no_value || result.is_known(input) || !result.continues(node, i)) continue;
      result.continued_[input] = true;
    }
    // Kernels ask for these on any thread.
    for (const Subgraph& subgraph : node.subgraphs) load_constants(*subgraph.graph);
  }
  std::reverse(result.nodes_.begin(), result.nodes_.end());
  return result;
}

bool Derivation::continues(const Node& node, std::size_t input) const {
  bool known_others = true;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    known_others = known_others && (i == input || node.inputs[i] == no_value || is_known(node.inputs[i]));
  return continues_sum(node, input, known_others);
}

void Derivation::join_sums(const Node& node, std::span<const Evaluated<Bounded>* const> inputs,
                           Derived& output, const ErrorModel& model, ThreadPool& threads) {
  const bool continued = continued_[node.outputs[0]];
  if (makes_sum(node)) {
    if (continued) output.sum = sum_of(node, inputs, model, threads);
    return;
  }
  // Either of two sums may be the start of the other.
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    if (input == no_value || is_known(input) || !kept_[input] || !kept_[input]->sum) continue;
    if (!continues(node, i)) continue;
    auto longer = continue_sum(node, i, *kept_[input]->sum, inputs, output.reference, model, threads);
    const bool longest = longer && (!output.sum || longer->terms > output.sum->terms);
    if (continued && longest) output.sum = std::move(longer);
  }
}

std::vector<Derived> Derivation::failed(const Node& node, const std::string& reason) const {
  std::vector<Derived> outputs(node.outputs.size());
  for (Derived& output : outputs) output.reason = reason;
  return outputs;
}

void Derivation::keep(const Node& node, std::vector<Derived>& outputs, bool varies, ThreadPool& threads) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ValueId value = node.outputs[i];
    if (value == no_value || uses_[value] == 0) continue;
    Derived& output = outputs[i];
    const ErrorModel model = error_model_for(model_, output.reference.dtype);
    if (varies &&
        (output.suggestion == no_value ||
         blindness(output.reference.real, {.ulp = model.ulp, .group = true}, threads) == Blindness::none))
      output.suggestion = value;
    kept_[value] = std::move(output);
  }
  if (!node.opaque.empty()) return;  // its inputs were not kept for it
  for (const ValueId input : node.reads())
    if (input != no_value && uses_[input] > 0 && --uses_[input] == 0) kept_[input].reset();
}

std::vector<Derived> Derivation::derive(NodeId id, ThreadPool& threads) {
  const Node& node = graph_->nodes[id];
  const std::vector<ValueId> reads = node.reads();
  std::vector<Evaluated<Bounded>> lifted(reads.size());
  std::vector<const Evaluated<Bounded>*> inputs(reads.size(), nullptr);
  std::vector<NodeId> group;
  std::string reason = node.opaque;
  OverflowNote overflow;
  ValueId suggestion = no_value;
  bool continuous = true;
  bool inexact =
      false;  // reads values that carry errors; a result computed from exact numbers only is always the same
  for (std::size_t i = 0; i < reads.size() && reason.empty(); ++i) {
    const ValueId input = reads[i];
    if (input == no_value) continue;
    if (is_known(input)) {
      const auto tensor = known_tensor(input);
      auto result = tensor.ok() ? lift_recorded(*tensor, is_computed(input), model_)
                                : Result<Evaluated<Bounded>>(tensor.error());
      if (!result.ok())
        reason = result.error().message;
      else
        lifted[i] = *std::move(result);
      if (i == 2 && quantized_biases_ && reason.empty()) widen_bias(id, lifted[i]);
      inputs[i] = &lifted[i];
    } else if (const auto& before = kept_[input]; before && before->reason.empty()) {
      inputs[i] = &before->reference;
      group.insert(group.end(), before->group.begin(), before->group.end());
      group.push_back(graph_->values[input].producer);
      overflow.raise(before->overflow);
      overflow.raise(range_of(before->reference.real, model_));
      continuous = continuous && before->continuous;
      inexact = inexact || is_floating(before->reference.dtype);
      // The latest in the graph.
      if (suggestion == no_value ||
          (before->suggestion != no_value &&
           graph_->values[before->suggestion].producer > graph_->values[suggestion].producer))
        suggestion = before->suggestion;
    } else {
      reason = fmt::format("its input {} was not recorded and cannot be computed{}{}",
                           graph_->values[input].name, before ? ": " : "", before ? before->reason : "");
    }
  }
  std::sort(group.begin(), group.end());
  group.erase(std::unique(group.begin(), group.end()), group.end());

  const std::optional<Tensor> reread = reread_output(node);
  std::vector<Derived> outputs;
  if (reason.empty()) {
    const bool in_group = !group.empty() || std::ranges::any_of(node.outputs, [&](ValueId value) {
      return value != no_value && (*recorded_)[value] == nullptr;
    });
    ErrorModel model = flushed_results_ && in_group ? flushing_results(model_) : model_;
    model.overflow = &overflow;
    auto results =
        evaluate<Bounded>(node, inputs, threads,
                          {.recorded = reread ? &*reread : nullptr, .memory = &memory_, .model = &model});
    if (!results.ok()) {
      reason = results.error().message;
    } else {
      continuous = continuous && !(inexact && jumps(node, *results));
      for (Evaluated<Bounded>& result : *results)
        outputs.push_back(
            {std::move(result), group, "", overflow.level(), suggestion, std::nullopt, continuous});
      if (!outputs.empty() && node.outputs[0] != no_value)
        join_sums(node, inputs, outputs[0], model, threads);
    }
  }
  if (!reason.empty()) outputs = failed(node, reason);
  const bool varies = suggestion != no_value || std::ranges::any_of(reads, [&](ValueId input) {
                        return input != no_value && (*recorded_)[input] != nullptr;
                      });
  keep(node, outputs, varies, threads);
  return outputs;
}

std::optional<Evaluated<Bounded>> Derivation::lifted_known(ValueId value) const {
  const auto tensor = known_tensor(value);
  if (!tensor.ok()) return std::nullopt;
  auto lifted = lift_recorded(*tensor, is_computed(value), model_);
  if (!lifted.ok()) return std::nullopt;
  return *std::move(lifted);
}

void Derivation::recycle(std::vector<Derived> outputs) {
  for (Derived& output : outputs) memory_.give_back(std::move(output.reference.real));
}

std::optional<Tensor> Derivation::reread_output(const Node& node) const {
  const auto op = find_operator(node);
  if (!op.ok() || !(*op)->uses_recorded_state || node.outputs.empty()) return std::nullopt;
  if (node.outputs[0] == no_value || (*recorded_)[node.outputs[0]] == nullptr) return std::nullopt;
  auto tensor = recorded_->load(node.outputs[0]);
  if (!tensor.ok()) return std::nullopt;
  return *std::move(tensor);
}

double Derivation::repetition(NodeId node, const Derived& output) const {
  std::vector<NodeId> members = output.group;
  members.push_back(node);
  std::vector<double> chances;
  for (const NodeId member : members)
    for (const ValueId input : graph_->nodes[member].reads()) {
      if (input == no_value || !is_known(input)) continue;
      const auto tensor = known_tensor(input);
      if (!tensor.ok() || tensor->dtype() != DType::float32 || tensor->elements() < 2) continue;
      if (const auto chance = equal_pair_chance(tensor->values<float>())) chances.push_back(*chance);
    }
  std::sort(chances.rbegin(), chances.rend());
  chances.resize(2, chances.empty() ? 0.0 : chances.front());
  return chances[0] * chances[1];
}

std::optional<std::vector<Tensor>> Derivation::selection(NodeId id, ThreadPool& threads) const {
  const Node& node = graph_->nodes[id];
  const auto op = find_operator(node);
  if (!op.ok() || !(*op)->exact_copy) return std::nullopt;
  for (const ValueId output : node.outputs)
    if (output != no_value && (*recorded_)[output] == nullptr) return std::nullopt;
  const std::vector<ValueId> reads = node.reads();
  std::vector<Tensor> tensors(reads.size());
  std::vector<const Tensor*> inputs(reads.size(), nullptr);
  for (std::size_t i = 0; i < reads.size(); ++i) {
    if (reads[i] == no_value) continue;
    if (!is_known(reads[i])) return std::nullopt;
    auto tensor = known_tensor(reads[i]);
    if (!tensor.ok()) return std::nullopt;
    tensors[i] = *std::move(tensor);
    inputs[i] = &tensors[i];
  }
  auto outputs = evaluate_strict(node, inputs, threads);
  if (!outputs.ok()) return std::nullopt;
  return *std::move(outputs);
}

std::optional<DerivationInputs> Derivation::known_inputs(NodeId id) const {
  DerivationInputs inputs;
  for (const ValueId input : graph_->nodes[id].reads()) {
    inputs.tensors.emplace_back();
    inputs.lifted.emplace_back();
    if (input == no_value) continue;
    if (!is_known(input)) return std::nullopt;
    auto tensor = known_tensor(input);
    if (!tensor.ok()) return std::nullopt;
    auto lifted = lift_recorded(*tensor, is_computed(input), model_);
    if (!lifted.ok()) return std::nullopt;
    inputs.tensors.back() = *std::move(tensor);
    inputs.lifted.back() = *std::move(lifted);
  }
  inputs.reread = reread_output(graph_->nodes[id]);
  return inputs;
}

std::optional<std::vector<std::optional<Tensor>>> Derivation::known_tensors(NodeId id) const {
  std::vector<std::optional<Tensor>> tensors;
  for (const ValueId input : graph_->nodes[id].reads()) {
    tensors.emplace_back();
    if (input == no_value) continue;
    if (!is_known(input)) return std::nullopt;
    auto tensor = known_tensor(input);
    if (!tensor.ok()) return std::nullopt;
    tensors.back() = *std::move(tensor);
  }
  return tensors;
}

std::optional<Tensor> Derivation::known_value(ValueId value) const {
  if (value == no_value || !is_known(value)) return std::nullopt;
  auto tensor = known_tensor(value);
  if (!tensor.ok()) return std::nullopt;
  return *std::move(tensor);
}

void Derivation::widen_bias(NodeId id, Evaluated<Bounded>& bias) const {
  const ValueId output = graph_->nodes[id].outputs[0];
  if (output == no_value || (*recorded_)[output] != nullptr) return;
  const auto rounded = quantized_bias(*graph_, id, *this);
  if (!rounded) return;
  if (driftscope::is_known(bias)) bias.real = lift_values<Bounded>(bias.tensor);
  bias.tensor = Tensor();
  for (std::size_t i = 0; i < bias.real.size(); ++i) {
    const double off = std::fabs(static_cast<double>(rounded->values<float>()[i]) - bias.real[i].value);
    bias.real[i] = {bias.real[i].value, bias.real[i].worst + off, bias.real[i].likely + off};
  }
}

DType Derivation::known_dtype(ValueId value) const {
  if (value == no_value) return DType::undefined;
  if (const auto& constant = graph_->values[value].constant) return constant->dtype();
  const SafetensorsEntry* const entry = (*recorded_)[value];
  return entry == nullptr ? DType::undefined : entry->dtype;
}

std::optional<Shape> Derivation::known_shape(ValueId value) const {
  if (value == no_value) return std::nullopt;
  if (const auto& constant = graph_->values[value].constant) return constant->shape();
  if (const SafetensorsEntry* entry = (*recorded_)[value]) return entry->shape;
  return std::nullopt;
}

std::optional<Tensor> Derivation::plain_float(ValueId value, ThreadPool& threads, std::uint64_t seed,
                                              const std::function<float(float)>& of_factors,
                                              const Instead& instead) const {
  std::map<ValueId, Tensor> made;
  std::vector<ValueId> pending = {value};
  // Depth first without recursion: a value is computed once all inputs of its node are available.
  while (!pending.empty()) {
    const ValueId next = pending.back();
    const NodeId producer = graph_->values[next].producer;
    if (made.contains(next)) {
      pending.pop_back();
      continue;
    }
    if (producer == no_node) return std::nullopt;
    const Node& node = graph_->nodes[producer];
    std::vector<const Tensor*> inputs;
    bool ready = true;
    for (const ValueId input : node.reads()) {
      const Tensor* tensor = nullptr;
      if (input != no_value) {
        if (is_known(input) && !made.contains(input)) {
          auto loaded = known_tensor(input);
          if (loaded.ok() && seed != 0)
            loaded = disturbed(*loaded, seed << 32 ^ input, model_.flushes_subnormals && seed % 2 == 1);
          if (!loaded.ok()) return std::nullopt;
          made[input] = *std::move(loaded);
        }
        if (const auto found = made.find(input); found != made.end()) {
          tensor = &found->second;
        } else {
          pending.push_back(input);
          ready = false;
        }
      }
      inputs.push_back(tensor);
    }
    if (!ready) continue;
    std::array<std::optional<Tensor>, 2> factors;
    for (std::size_t i = 0; of_factors && sums_products(node) && i < factors.size(); ++i) {
      if (i >= inputs.size() || inputs[i] == nullptr || inputs[i]->dtype() != DType::float32) continue;
      auto changed = Tensor::from_values<float>(inputs[i]->shape(), inputs[i]->values<float>());
      if (!changed.ok()) return std::nullopt;
      for (float& x : changed->mutable_values<float>()) x = of_factors(x);
      factors[i] = *std::move(changed);
      inputs[i] = &*factors[i];
    }
    std::optional<Tensor> given = instead ? instead(node, inputs) : std::nullopt;
    auto outputs = given ? Result<std::vector<Tensor>>(std::vector<Tensor>{*std::move(given)})
                         : evaluate_strict(node, inputs, threads);
    if (!outputs.ok() || outputs->size() < node.outputs.size()) return std::nullopt;
    if (seed != 0 && !add_rounding_noise(node, inputs, model_, seed << 32 ^ next, threads, *outputs).ok())
      return std::nullopt;
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != no_value) made[node.outputs[i]] = std::move((*outputs)[i]);
    pending.pop_back();
  }
  return made.at(value);
}

}  // namespace driftscope
