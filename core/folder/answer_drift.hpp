// How far a variant's answer lies from the reference variant's, on the same input. Clients:
// native/cli/folder_run.
#pragma once

#include <optional>
#include <string>

#include "core/graph/graph.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/trace/trace.hpp"
#include "core/verify/answer.hpp"

namespace driftscope {

struct AnswerDrift {
  OutputAgreement agreement;  ///< of the first output
  double drift = 0.0;         ///< max |got − want| / max |want|, the largest of all outputs
  std::string output;         ///< the output that has it
};

/// `graph`: of the reference, whose outputs `want` are; `got`: those of the variant, which may have another
/// float type. Errors: an output is missing, or has another shape or kind of type.
[[nodiscard]] Result<AnswerDrift> answer_drift(const Graph& graph, const NamedInputs& want,
                                               const NamedInputs& got);

/// Copies of the graph's outputs that the trace has: they outlive what the trace's values lie in.
[[nodiscard]] Result<NamedInputs> outputs_of(const Graph& graph, const Trace& trace);

/// What a variant gets in place of the reference's inputs.
struct VariantInputs {
  NamedInputs tensors;
  std::vector<std::string> changes;  ///< "x as float16"
};
/// In its own types. Errors: an input that the reference lacks, one whose type or sizes it cannot have.
[[nodiscard]] Result<VariantInputs> inputs_of_variant(const Graph& graph, const NamedInputs& reference);

}  // namespace driftscope
