// The steps and layers of a generation as a map, and what stands at its places. Clients: the page of a
// generation, the view Generation.
#pragma once

#include <string>
#include <vector>

#include "core/draw/verdict_map.hpp"
#include "generated/documents/generate.hpp"

namespace driftscope {

struct GenerationMapOptions {
  std::size_t most_rows = 400;
  bool only_bad = false;  ///< layers that are worse than rounding in some step
  bool words = false;     ///< heads with tokens and memory
};

struct GenerationMap {
  VerdictMap map;
  std::vector<std::size_t> layers;  ///< of each row, among the target's
  struct Column {
    std::size_t prompt = 0;
    std::size_t step = 0;
  };
  std::vector<Column> columns;
  std::size_t left_out = 0;  ///< layers beyond most_rows
};
[[nodiscard]] GenerationMap generation_map(const documents::Generate& results,
                                           const documents::GenerateTarget& target,
                                           const GenerationMapOptions& options);

/// One of `layers`' characters.
[[nodiscard]] Verdict verdict_of_mark(char mark);

/// Layers of steps that are worse than rounding.
[[nodiscard]] std::size_t bad_layers(const documents::GenerateTarget& target);

/// What is known of a step: its tokens, why they differ, its memory; several lines.
[[nodiscard]] std::string step_text(const documents::Generate& results,
                                    const documents::GenerateTarget& target, GenerationMap::Column column);

}  // namespace driftscope
