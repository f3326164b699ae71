// Inputs for a model that nobody gave any: sizes that fit (found_sizes), values that make sense for what they
// are (value_rules, integer_limits), the rest random from a seed. The same bits on every host.
// Clients: the source seed:42, the service.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/inputs/chosen_inputs.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

struct FoundInputs {
  NamedInputs tensors;
  ChosenInputs chosen;  ///< its text names the source: "seed:42 (random), time=16000 (found)"
};

/// For every input of the graph, whose shapes may hold what the user gave (with_input_sizes). Floating values
/// are standard normal. `model` stands in the command that an error shows. Errors: as of find_sizes; types
/// without numbers.
[[nodiscard]] Result<FoundInputs> found_inputs(const Graph& graph, std::uint64_t seed,
                                               const std::string& model = "MODEL");

/// The fact `inputs` of the trace's run.
void add_chosen_inputs(Trace& trace, const ChosenInputs& chosen);

/// The options that choose the same sizes again: "dim:time=16000", "shape:x=1x3x224x224" (input_sizes.hpp).
[[nodiscard]] std::vector<std::string> size_specs(const ChosenInputs& chosen, const NamedInputs& tensors);

}  // namespace driftscope
