// QMoE whose inputs a runtime rounds before the products, as ONNX Runtime's CPU kernels do where weights are
// in blocks: to int8 with 8 bits, or with accuracy_level 4; in tables of int8 steps with 2 bits.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/moe.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::rounded_experts {
namespace {

Candidate with(const Node& node, std::string_view attribute, std::int64_t value) {
  Node changed = node;
  changed.attributes.push_back({std::string(attribute), value});
  return {.node = std::move(changed)};
}

bool has_bits(const ExpertOptions& options, std::int64_t bits) {
  return std::ranges::find(options.bits, bits) != options.bits.end();
}

std::vector<Candidate> int8_candidates(const LayerCase& layer) {
  std::vector<Candidate> made;
  const auto options = read_expert_options(layer.node());
  const auto level = int_attribute(layer.node(), "accuracy_level", 0);
  if (!options.ok() || options->block == 0 || !level.ok() || (*level != 4 && !has_bits(*options, 8)))
    return made;
  std::vector<std::int64_t> blocks = {options->block, 32, 128, std::int64_t{1} << 40};  // the last: a row
  std::ranges::sort(blocks);
  const auto repeated = std::ranges::unique(blocks);
  blocks.erase(repeated.begin(), repeated.end());
  for (const std::int64_t block : blocks) {
    made.push_back(with(layer.node(), rounded_activations, block));
    made.back().parameters = {{"block", static_cast<double>(block)}};
  }
  return made;
}

std::vector<Candidate> table_candidates(const LayerCase& layer) {
  const auto options = read_expert_options(layer.node());
  if (!options.ok() || options->block == 0 || !has_bits(*options, 2)) return {};
  return {with(layer.node(), tabled_activations, 1)};
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.family = "algorithm",
             .id = "int8-activations-of-experts",
             .name = "experts' inputs rounded to int8 in blocks",
             .operators = {"com.microsoft.QMoE"},
             .candidates = int8_candidates});
  table.add({.family = "algorithm",
             .id = "tables-of-int8",
             .name = "experts' inputs summed in tables of int8",
             .operators = {"com.microsoft.QMoE"},
             .candidates = table_candidates});
}

}  // namespace driftscope::variants::rounded_experts
