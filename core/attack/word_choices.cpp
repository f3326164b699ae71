#include "core/attack/word_choices.hpp"

#include <algorithm>
#include <utility>

namespace driftscope {
namespace {

const Tensor* embedding_of(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (node.op_type != "Gather" || node.inputs.size() != 2) continue;
    const auto& table = graph.values[node.inputs[0]].constant;
    if (table && table->dtype() == DType::float32 && table->rank() == 2 &&
        std::ranges::find(graph.inputs, node.inputs[1]) != graph.inputs.end())
      return &*table;
  }
  return nullptr;
}

}  // namespace

Result<WordChoices> nearest_words(const Graph& graph, std::span<const std::int64_t> used, std::int64_t first,
                                  std::int64_t frequent, std::int64_t pad, std::size_t count) {
  const Tensor* const table = embedding_of(graph);
  if (table == nullptr)
    return unsupported(
        "the attack replaces words by their neighbours in the model's embedding, and no Gather looks an "
        "input "
        "up in a constant float32 table");
  const auto rows = table->values<float>();
  const std::int64_t words = table->shape()[0];
  const auto width = static_cast<std::size_t>(table->shape()[1]);
  WordChoices choices;
  choices.pad = pad;
  for (const std::int64_t word : used) {
    if (word < first + frequent || word >= words || word == pad || choices.neighbours.contains(word))
      continue;
    std::vector<std::pair<double, std::int64_t>> others;
    for (std::int64_t other = first; other < words; ++other) {
      if (other == word || other == pad) continue;
      double distance = 0.0;
      for (std::size_t i = 0; i < width; ++i) {
        const double part = static_cast<double>(rows[static_cast<std::size_t>(word) * width + i]) -
                            static_cast<double>(rows[static_cast<std::size_t>(other) * width + i]);
        distance += part * part;
      }
      others.emplace_back(distance, other);
    }
    const std::size_t kept = std::min(count, others.size());
    std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(kept), others.end());
    for (std::size_t i = 0; i < kept; ++i) choices.neighbours[word].push_back(others[i].second);
  }
  return choices;
}

}  // namespace driftscope
