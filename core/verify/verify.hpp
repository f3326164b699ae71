// Judges a trace: is each layer's result what float32 rounding of its own recorded inputs explains?
// Needs only a graph and a trace, whichever runtime made it. Clients: compare, the command line,
// views. Method: docs/design.md, "Verify: bug or rounding".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"
#include "core/trace/trace_view.hpp"
#include "core/verify/layer_verdict.hpp"

namespace driftscope {

class AnswerSensitivity;
class ThreadPool;

/// How many layers have this verdict.
[[nodiscard]] std::int64_t count_layers(const Verification& verification, Verdict verdict);

/// Checks that a trace is of this model, as far as both say: otherwise an error that names both hashes.
[[nodiscard]] Status expect_model(const std::string& model_sha256, const Trace& about);

/// Called with the number of layers verified so far and in all; returning false stops with a cancelled error.
using VerifyProgress = std::function<bool(std::int64_t done, std::int64_t total)>;

/// A layer for every output of a node that the trace holds, in topological order. A node that cannot
/// be evaluated (an operator that this build does not know, an input of the wrong shape) gives a
/// missing layer with the reason.
/// Errors: the trace holds another model (sha differs), an input of the graph that is needed is absent
/// or does not fit the graph, nothing could be compared. `sensitivity`: of this graph; null: how far layers
/// have moved the answer is not computed.
[[nodiscard]] Result<Verification> verify(const Graph& graph, const std::string& model_sha256,
                                          const Trace& trace, ThreadPool& threads,
                                          const VerifyProgress& progress = {},
                                          const AnswerSensitivity* sensitivity = nullptr);

/// The same with the tensors of one node in memory at a time.
[[nodiscard]] Result<Verification> verify(const Graph& graph, const std::string& model_sha256,
                                          const TraceView& trace, ThreadPool& threads,
                                          const VerifyProgress& progress = {},
                                          const AnswerSensitivity* sensitivity = nullptr);

/// Only the outputs of one node, with what those before and after it say of them. Errors: as verify; no node
/// of this name; none of its outputs was recorded.
[[nodiscard]] Result<Verification> verify_node(const Graph& graph, const TraceView& trace,
                                               const std::string& node, ThreadPool& threads,
                                               const VerifyProgress& progress = {});

/// Whether the runs of a recording agree, and which are right, without the other layers; nothing where the
/// trace does not say.
[[nodiscard]] Result<std::optional<RepeatVerification>> verify_repeats(const Graph& graph,
                                                                       const TraceView& trace,
                                                                       ThreadPool& threads);

}  // namespace driftscope
