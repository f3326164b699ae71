// Convolutions in groups whose output channels read the inputs of another group: where an output channel's
// group is a quotient that is rounded down too far, where four channels share the group of the first of them,
// or where groups are counted the other way. Seen in ONNX Runtime Web 1.30 on WebGPU (docs/found.md).
// Compiled for size on the web (cmake/core.cmake).
#include <cstring>

#include "core/graph/attributes.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::groups {
namespace {

constexpr std::size_t weights_place = 1;
constexpr std::int64_t most_weights = std::int64_t{1} << 24;

struct Grouping {
  std::int64_t outputs = 0;
  std::int64_t groups = 0;
  [[nodiscard]] std::int64_t right(std::int64_t channel) const { return channel / (outputs / groups); }
};

/// One group whose weights are 0 but for the inputs of of(channel).
template <class Of>
std::optional<Candidate> regrouped(const Node& node, const Tensor& weights, const Grouping& grouping,
                                   std::string detail, const Of& of) {
  const std::int64_t own = weights.shape()[1];
  const std::int64_t taps = weights.elements() / (grouping.outputs * own);
  Shape shape = weights.shape();
  shape[1] = own * grouping.groups;
  if (element_count(shape) > most_weights) return std::nullopt;
  auto spread = Tensor::make(DType::float32, shape);
  if (!spread.ok()) return std::nullopt;
  bool changed = false;
  const std::size_t block = static_cast<std::size_t>(own * taps);
  for (std::int64_t channel = 0; channel < grouping.outputs; ++channel) {
    const std::int64_t group = of(channel);
    if (group < 0 || group >= grouping.groups) return std::nullopt;
    changed = changed || group != grouping.right(channel);
    std::memcpy(spread->mutable_values<float>().data() + (channel * grouping.groups + group) * own * taps,
                weights.values<float>().data() + static_cast<std::size_t>(channel) * block,
                block * sizeof(float));
  }
  if (!changed) return std::nullopt;
  Candidate candidate;
  candidate.node = node;
  for (Attribute& attribute : candidate.node->attributes.edit())
    if (attribute.name == "group") attribute.value = std::int64_t{1};
  candidate.inputs = {other_input(weights_place, *std::move(spread))};
  candidate.detail = std::move(detail);
  return candidate;
}

std::vector<Candidate> candidates(const LayerCase& layer) {
  const Node& node = layer.node();
  const auto group = int_attribute(node, "group", 1);
  const DerivationInputs* const inputs = layer.known_inputs();
  if (!group.ok() || *group < 2 || inputs == nullptr || inputs->tensors.size() <= weights_place) return {};
  const Tensor& weights = inputs->tensors[weights_place];
  if (weights.dtype() != DType::float32 || weights.rank() < 3) return {};
  const Grouping grouping{weights.shape()[0], *group};
  if (grouping.outputs % grouping.groups != 0) return {};
  const std::int64_t each = grouping.outputs / grouping.groups;
  std::vector<Candidate> list;
  const auto add = [&](std::string detail, const auto& of) {
    if (auto candidate = regrouped(node, weights, grouping, std::move(detail), of))
      list.push_back(*std::move(candidate));
  };
  add("(the first channel of each that of the one before)", [&](std::int64_t channel) {
    return channel > 0 && channel % each == 0 ? grouping.right(channel) - 1 : grouping.right(channel);
  });
  // Of two groups that is the same.
  for (std::int64_t first = 1; grouping.groups > 2 && grouping.groups <= 4 && first < grouping.groups;
       ++first)
    add("(one channel that of the group before)",
        [&](std::int64_t channel) { return channel == first * each ? first - 1 : grouping.right(channel); });
  add("(four channels that of the first of them)",
      [&](std::int64_t channel) { return grouping.right(channel / 4 * 4); });
  add("(channels dealt out one by one)", [&](std::int64_t channel) { return channel % grouping.groups; });
  add("(the first group for all)", [](std::int64_t) { return std::int64_t{0}; });
  return list;
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.kind = VariantKind::faulty,
             .family = "attribute",
             .id = "group_of_channel",
             .name = "channels in another group",
             .operators = {"Conv"},
             .order = 12,
             .candidates = candidates});
}

}  // namespace driftscope::variants::groups
