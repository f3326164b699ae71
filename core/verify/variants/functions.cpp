// Functions composed of other functions, and ÷ and √ by approximations with Newton steps. Errors in ULP of
// the result, provided that the parts are within the 4 ULP that every CPU runtime is granted.
// Compiled for size on the web (cmake/core.cmake).
#include <cmath>

#include "core/model/tensor_elements.hpp"
#include "core/numerics/subnormal_rows.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::functions {
namespace {

constexpr double half_ulp_of_one = 0x1p-24;

void at_least(double& bound, double value) { bound = std::fmax(bound, value); }

// The product x·log₂e and the constant are rounded once each: |x|·2⁻²³ in the exponent of e.
void exp_by_exp2(ErrorModel& model) {
  at_least(model.exp.ulp_per_x, 2.0);
  at_least(model.sigmoid.ulp, 5.5);
  at_least(model.sigmoid.ulp_per_x, 2.0);
}

// σ in [½, 1] within 4 of 2⁻²⁴, doubled, and two roundings.
void tanh_by_sigmoid(ErrorModel& model) { at_least(model.tanh.absolute, 10 * half_ulp_of_one); }

// tanh within 4 of 2⁻²⁴, and 1 + it rounded, both halved.
void sigmoid_by_tanh(ErrorModel& model) { at_least(model.sigmoid.absolute, 3.5 * half_ulp_of_one); }

// 1 ÷ y rounded, and the product.
void division_by_reciprocal(ErrorModel& model) { at_least(model.division_ulp, 1.5); }

// An approximation of 11 to 14 bits and one or two steps: 2 ULP of a reciprocal, 3 of 1 ÷ √x, and products.
void newton(ErrorModel& model) {
  at_least(model.division_ulp, 2.5);
  at_least(model.sqrt_ulp, 4.0);
}

// Results below the smallest normal number become 0, as in vector code without a branch for them.
void flushed_results(ErrorModel& model) { model = flushing_results(model); }

// 1.5e-7 from the exact value before rounding; oneDNN's, in float32, measured up to 5.8e-7 (1 + erf).
void erf_by_abramowitz_and_stegun(ErrorModel& model) {
  at_least(model.erf.absolute, 8e-7);
  at_least(model.gelu_erf.absolute, 8e-7);
}

/// Whether the Erf of a group is that of a Gelu written in parts: 1 + erf follows.
bool is_of_gelu(const Graph& graph, NodeId erf, std::span<const NodeId> group) {
  return graph.nodes[erf].op_type == "Erf" && std::ranges::any_of(group, [&](NodeId id) {
           const Node& node = graph.nodes[id];
           if (node.op_type != "Add" || node.inputs.size() != 2) return false;
           const std::size_t other = node.inputs[0] == graph.nodes[erf].outputs[0] ? 1 : 0;
           if (node.inputs[1 - other] != graph.nodes[erf].outputs[0]) return false;
           const auto& one = graph.values[node.inputs[other]].constant;
           return one && one->in_memory() && one->elements() == 1 && is_floating(one->dtype()) &&
                  number_at(*one, 0) == 1.0;
         });
}

// Runtimes compute the parts of a Gelu as one, with the erf of their Gelu.
std::vector<Candidate> gelu_as_one(const LayerCase& layer) {
  const std::vector<NodeId>& group = layer.derived.group;
  if (std::ranges::none_of(group, [&](NodeId id) { return is_of_gelu(layer.graph, id, group); })) return {};
  Candidate candidate{.model = layer.run.model};
  candidate.model->erf.ulp = std::fmax(candidate.model->erf.ulp, candidate.model->gelu_erf.ulp);
  at_least(candidate.model->erf.absolute, candidate.model->gelu_erf.absolute);
  return {std::move(candidate)};
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.family = "algorithm",
             .id = "flushed-results",
             .name = "results flushed to zero in the subnormal range",
             .operators = {"Exp", "Softmax", "Log",  "Tanh", "Sinh",    "Asinh", "Atanh",
                           "Sin", "Tan",     "Asin", "Atan", "Erf",     "Pow",   "Gelu",
                           "Elu", "Selu",    "Celu", "Mish", "Sigmoid", "Swish", "Softplus"},
             .candidates = with_model(flushed_results),
             .flushes_results = true});
  table.add({.family = "algorithm",
             .id = "exp-by-exp2",
             .name = "exp through exp2",
             .operators = {"Exp", "Sigmoid", "Softmax", "LogSoftmax", "Elu", "Selu", "Celu", "Softplus",
                           "Mish", "Swish", "ReduceLogSumExp"},
             .candidates = with_model(exp_by_exp2)});
  table.add({.family = "algorithm",
             .id = "tanh-by-sigmoid",
             .name = "tanh as 2σ(2x) − 1",
             .operators = {"Tanh", "Gelu", "Mish"},
             .candidates = with_model(tanh_by_sigmoid)});
  table.add({.family = "algorithm",
             .id = "sigmoid-by-tanh",
             .name = "sigmoid as (1 + tanh(x/2))/2",
             .operators = {"Sigmoid", "Swish"},
             .candidates = with_model(sigmoid_by_tanh)});
  table.add(
      {.family = "algorithm",
       .id = "division-by-reciprocal",
       .name = "division by a reciprocal",
       .operators = {"Div", "Softmax", "Reciprocal", "Softsign", "Mean", "ReduceMean", "AveragePool",
                     "GlobalAveragePool", "BatchNormalization", "LayerNormalization", "InstanceNormalization",
                     "GroupNormalization", "LRN", "LpNormalization", "DynamicQuantizeLinear"},
       .candidates = with_model(division_by_reciprocal)});
  table.add({.family = "algorithm",
             .id = "newton",
             .name = "reciprocal and square root by Newton's method",
             .operators = {"Div", "Sqrt", "Reciprocal", "Softmax", "Sigmoid", "Softsign",
                           "BatchNormalization", "LayerNormalization", "InstanceNormalization",
                           "GroupNormalization", "ReduceL2", "LpNormalization"},
             .candidates = with_model(newton)});
  table.add({.family = "algorithm",
             .id = "gelu-as-one",
             .name = "one Gelu, with the erf of the runtime's own",
             .operators = {"Erf"},
             .candidates = gelu_as_one});
  table.add({.family = "algorithm",
             .id = "erf-by-abramowitz-stegun",
             .name = "erf by Abramowitz and Stegun 7.1.26",
             .operators = {"Erf", "Gelu"},
             .candidates = with_model(erf_by_abramowitz_and_stegun)});
}

}  // namespace driftscope::variants::functions
