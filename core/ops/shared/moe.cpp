// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/shared/moe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/attributes.hpp"

namespace driftscope {
namespace {

constexpr std::array<std::string_view, 8> expert_names = {"input",
                                                          "router_probs",
                                                          "fc1_experts_weights",
                                                          "fc1_experts_bias",
                                                          "fc2_experts_weights",
                                                          "fc2_experts_bias",
                                                          "fc3_experts_weights",
                                                          "fc3_experts_bias"};
constexpr std::array<std::string_view, 15> packed_expert_names = {
    "input",           "router_probs",     "fc1_experts_weights",
    "fc1_scales",      "fc1_experts_bias", "fc2_experts_weights",
    "fc2_scales",      "fc2_experts_bias", "fc3_experts_weights",
    "fc3_scales",      "fc3_experts_bias", "fc1_zero_points",
    "fc2_zero_points", "fc3_zero_points",  "router_weights"};
constexpr std::array<ExpertMatrix, 3> expert_matrices = {{{2, 3, 0, 0}, {4, 5, 0, 0}, {6, 7, 0, 0}}};
constexpr std::array<ExpertMatrix, 3> packed_expert_matrices = {
    {{2, 4, 3, 11}, {5, 7, 6, 12}, {8, 10, 9, 13}}};
constexpr std::array<std::string_view, 7> expert_functions = {"relu",   "gelu",  "silu", "identity",
                                                              "swiglu", "relu2", "geglu"};

std::string_view expert_input_name(const Node& node, std::size_t input) {
  return has_packed_experts(node) ? packed_expert_names[input] : expert_names[input];
}
std::string expert_input_label(const Node& node, std::size_t input) {
  return input_label(input, expert_input_name(node, input));
}

Status read_expert_packing(const Node& node, ExpertOptions& options) {
  DRIFTSCOPE_TRY(const std::string type, string_attribute(node, "quant_type", "int"));
  if (type != "int") return unsupported(fmt::format("QMoE of quant_type {}: only int is known here", type));
  DRIFTSCOPE_TRY(const std::int64_t bits, int_attribute(node, "expert_weight_bits", 4));
  for (std::size_t fc = 0; fc < 3; ++fc) {
    DRIFTSCOPE_TRY(options.bits[fc],
                   int_attribute(node, fmt::format("fc{}_expert_weight_bits", fc + 1), bits));
    if (options.bits[fc] != 2 && options.bits[fc] != 4 && options.bits[fc] != 8)
      return unsupported(fmt::format("QMoE of {} bits: only 2, 4 and 8 are known here", options.bits[fc]));
  }
  DRIFTSCOPE_TRY(options.block, int_attribute(node, "block_size", 0));
  if (options.block != 0 && (options.block < 16 || (options.block & (options.block - 1)) != 0))
    return bad_input(
        fmt::format("attribute block_size: expected a power of 2 of at least 16, got {}", options.block));
  DRIFTSCOPE_TRY(options.rounded, int_attribute(node, rounded_activations, 0));
  DRIFTSCOPE_TRY(options.tabled, flag_attribute(node, tabled_activations, false));
  // −1, the default, is an order of the runtime's own: the plain one on the CPU.
  DRIFTSCOPE_TRY(const std::int64_t prepacked, int_attribute(node, "weights_prepacked", -1));
  if (prepacked == 1) return unsupported("QMoE with weights_prepacked 1: the layout is one runtime's own");
  return {};
}

// Products of what is at most this fit.
constexpr std::int64_t most_of_an_axis = std::int64_t{1} << 40;

Dimension multiple_of(const Dimension& size, std::int64_t factor) {
  return size.known() ? known_dimension(size.size * factor) : Dimension{};
}
// Of so many things of `bits` each.
Dimension whole_bytes(const Dimension& size, std::int64_t bits) {
  return size.known() ? known_dimension((size.size * bits + 7) / 8) : Dimension{};
}
Dimension whole_blocks(const Dimension& depth, std::int64_t block) {
  return block == 0      ? known_dimension(1)
         : depth.known() ? known_dimension((depth.size + block - 1) / block)
                         : Dimension{};
}

// Every matrix [experts, rows, depth] and what belongs to it.
Status check_expert_matrix(const InferContext& context, const ExpertOptions& options, std::size_t fc,
                           const Dimension& experts, const Dimension& rows, const Dimension& depth) {
  const Node& node = context.node();
  const ExpertMatrix& matrix = expert_matrix(node, fc);
  const std::int64_t bits = options.bits[fc];
  const auto expect = [&](std::size_t input, const SymbolicShape& shape) {
    return expect_shape(context, input, expert_input_name(node, input), shape);
  };
  DRIFTSCOPE_CHECK(expect(matrix.bias, {experts, rows}));
  if (bits == 0) return expect(matrix.weights, {experts, rows, depth});
  if (depth.known() && depth.size * bits % 8 != 0)
    return bad_input(fmt::format("{}: its rows of {} numbers of {} bits are no whole bytes",
                                 expert_input_label(node, matrix.weights), depth.size, bits));
  DRIFTSCOPE_CHECK(expect(matrix.weights, {experts, rows, whole_bytes(depth, bits)}));
  const auto& scales = context.input(matrix.scales).shape;
  if (!scales) return {};
  const Dimension blocks = whole_blocks(depth, options.block);
  const bool by_row = scales->size() == 2;
  DRIFTSCOPE_CHECK(
      expect(matrix.scales, by_row ? SymbolicShape{experts, rows} : SymbolicShape{experts, rows, blocks}));
  return expect(matrix.zeros, by_row || options.block == 0
                                  ? SymbolicShape{experts, whole_bytes(rows, bits)}
                                  : SymbolicShape{experts, rows, whole_bytes(blocks, bits)});
}

Status check_expert_types(const InferContext& context, const ExpertOptions& options) {
  const Node& node = context.node();
  const bool quantized = has_packed_experts(node);
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    if (i > mixing_weights)
      return unsupported(fmt::format("QMoE with input {}: it belongs to a quant_type not known here", i));
    const bool packed = quantized && (i == 2 || i == 5 || i == 8 || (i >= 11 && i <= 13));
    DRIFTSCOPE_CHECK(packed ? expect_dtype(context, i, expert_input_name(node, i), {DType::uint8})
                            : expect_kind(context, i, expert_input_name(node, i), Kinds::floating));
  }
  const bool third = context.has_input(expert_matrix(node, 2).weights);
  const std::size_t needed = third || (options.gated && options.fusion == 0) ? 3 : 2;
  if (third && !(options.function == ExpertFunction::silu || (options.gated && options.fusion == 0)))
    return unsupported(fmt::format("{}: known here with silu, or with swiglu and swiglu_fusion 0",
                                   expert_input_label(node, expert_matrix(node, 2).weights)));
  for (std::size_t fc = 0; fc < 3; ++fc) {
    const ExpertMatrix& matrix = expert_matrix(node, fc);
    for (const std::size_t i : {matrix.weights, matrix.scales}) {
      if (fc < needed && !context.has_input(i))
        return bad_input(fmt::format("{}: it is required but omitted", expert_input_label(node, i)));
    }
    for (const std::size_t i : {matrix.bias, matrix.zeros, matrix.scales})
      if (fc >= needed && i != 0 && context.has_input(i))
        return bad_input(fmt::format("{}: given without weights", expert_input_label(node, i)));
  }
  return {};
}

}  // namespace

const ExpertMatrix& expert_matrix(const Node& node, std::size_t fc) {
  return (has_packed_experts(node) ? packed_expert_matrices : expert_matrices)[fc];
}

Result<ExpertOptions> read_expert_options(const Node& node) {
  ExpertOptions options;
  DRIFTSCOPE_TRY(const std::string function, string_attribute(node, "activation_type", "relu"));
  const auto at = std::ranges::find(expert_functions, function);
  if (at == expert_functions.end())
    return bad_input(
        fmt::format("attribute activation_type: expected relu, gelu, silu, identity, swiglu, "
                    "relu2 or geglu, got \"{}\"",
                    function));
  options.function = static_cast<ExpertFunction>(at - expert_functions.begin());
  options.gated = options.function == ExpertFunction::swiglu || options.function == ExpertFunction::geglu;
  DRIFTSCOPE_TRY(options.k, int_attribute(node, "k", 1));
  if (options.k < 1) return bad_input(fmt::format("attribute k: expected at least 1, got {}", options.k));
  DRIFTSCOPE_TRY(options.normalize, flag_attribute(node, "normalize_routing_weights", false));
  DRIFTSCOPE_TRY(const bool sparse, flag_attribute(node, "use_sparse_mixer", false));
  if (sparse)
    return unsupported(fmt::format("{} with use_sparse_mixer: its routing is not known here", node.op_type));
  if (options.gated) {
    DRIFTSCOPE_TRY(options.fusion, int_attribute(node, "swiglu_fusion", 0));
    const std::int64_t least = options.function == ExpertFunction::geglu ? 1 : 0;
    if (options.fusion < least || options.fusion > 2)
      return bad_input(fmt::format("attribute swiglu_fusion: expected {} to 2 with {}, got {}", least,
                                   function, options.fusion));
  }
  DRIFTSCOPE_TRY(options.alpha, float_attribute(node, "activation_alpha", 1.0F));
  DRIFTSCOPE_TRY(options.beta, float_attribute(node, "activation_beta", 0.0F));
  DRIFTSCOPE_TRY(options.limit, float_attribute(node, "swiglu_limit", options.limit));
  if (!(options.limit >= 0.0F))
    return bad_input(fmt::format("attribute swiglu_limit: expected at least 0, got {}", options.limit));
  DRIFTSCOPE_TRY(options.limits_result, flag_attribute(node, "swiglu_limit_after_activation", false));
  if (has_packed_experts(node)) DRIFTSCOPE_CHECK(read_expert_packing(node, options));
  return options;
}

Result<std::vector<TensorType>> infer_experts(const InferContext& context) {
  const Node& node = context.node();
  DRIFTSCOPE_TRY(const ExpertOptions options, read_expert_options(node));
  DRIFTSCOPE_CHECK(check_expert_types(context, options));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, expert_names[0], 2, 3));
  const auto& x = context.input(0).shape;
  Dimension hidden;
  Dimension tokens;
  if (x) {
    hidden = x->back();
    DRIFTSCOPE_TRY(tokens, multiply(std::span(*x).first(x->size() - 1)));
  }
  const std::size_t fc1 = expert_matrix(node, 0).weights;
  const std::size_t fc2 = expert_matrix(node, 1).weights;
  DRIFTSCOPE_CHECK(expect_shape(context, 1, expert_names[1], {tokens, Dimension{}}));
  if (has_packed_experts(node))
    DRIFTSCOPE_CHECK(expect_shape(context, mixing_weights, packed_expert_names[mixing_weights],
                                  {tokens, dimension_of(context, 1, 1)}));
  const Dimension experts = dimension_of(context, 1, context.input(1).shape ? 1 : 0);
  if (experts.known() && options.k > experts.size)
    return bad_input(
        fmt::format("attribute k: expected at most the {} experts of input 1 (router_probs), got {}",
                    experts.size, options.k));
  for (const std::size_t i : {fc1, fc2})
    DRIFTSCOPE_CHECK(expect_rank(context, i, expert_input_name(node, i), 3, 3));
  const Dimension outputs = dimension_of(context, fc2, 1);
  if (!unify(outputs, hidden))
    return bad_input(fmt::format(
        "{}: expected {} as its size 1, the last one of input 0 (input), got shape {}. Weights in the older "
        "order [experts, inputs, outputs] are read as [experts, outputs, inputs] by ONNX Runtime: transpose "
        "them",
        expert_input_label(node, fc2), hidden.size, shape_text(*context.input(fc2).shape)));
  Dimension inner = dimension_of(context, fc2, 2);
  for (const Dimension& size : {hidden, inner, experts})
    if (size.size > most_of_an_axis)
      return limit_error(fmt::format("experts of {} elements are not supported", size.size));
  if (options.bits[1] != 0) inner = multiple_of(inner, 8 / options.bits[1]);
  DRIFTSCOPE_CHECK(
      check_expert_matrix(context, options, 0, experts, multiple_of(inner, options.width()), hidden));
  DRIFTSCOPE_CHECK(check_expert_matrix(context, options, 1, experts, hidden, inner));
  if (context.has_input(expert_matrix(node, 2).weights))
    DRIFTSCOPE_CHECK(check_expert_matrix(context, options, 2, experts, inner, hidden));
  return std::vector{context.input(0)};
}

}  // namespace driftscope
