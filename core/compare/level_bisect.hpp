// At which value of an option does a result change, and by which rewriting? Runs of one model on one engine,
// from the option's first value (an optimisation level, say) to its last, compared with the first of them.
// Pure functions of traces. Clients: the bisect command; report/bisect_view shows the result.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/graph_outputs.hpp"
#include "core/verify/verify.hpp"

namespace driftscope {

/// One run, at one value of the option.
struct LevelRun {
  std::string level;  ///< the option's value
  std::string target;
  std::optional<Trace> trace = {};
  std::optional<Verification> verification = {};
  std::optional<ModelOutline> rewritten = {};  ///< the model as the runtime runs it, where it gives that away
  std::optional<Error> error = {};
};

struct LevelResult {
  std::string level;
  std::string target;
  std::optional<Error> error = {};
  bool compared = false;  ///< with the first level that ran
  Metrics outputs;        ///< all outputs of the graph together, against that level
  bool differs = false;   ///< in any bit of them, or in shape or dtype
  Verdict verdict = Verdict::missing;
  std::optional<std::string> first_fault = {};
  std::size_t values = 0;  ///< recorded
  std::size_t nodes = 0;   ///< of the rewritten model; 0: not known
  int runs = 0;            ///< 0: it was not run
  int runs_like_it = 0;    ///< with the outcome that counts: the worst
};

struct NamedNode {
  std::string name;
  std::string op;
  [[nodiscard]] bool operator==(const NamedNode&) const = default;
};

/// Nodes of a model that another rewriting of it runs as other nodes.
struct Replacement {
  std::vector<NamedNode> nodes;
  std::vector<NamedNode> by;         ///< empty: folded, or not needed any more
  std::vector<std::string> outputs;  ///< values with the same name in both
};

/// A level beside the one before it.
struct LevelStep {
  std::string from;
  std::string to;
  std::vector<Replacement> replaced;  ///< in the order of the new model's nodes; needs both rewritten models
  std::vector<std::string> vanished;  ///< values that are no longer recorded
  /// The first value recorded in both that differs, and its node in the user's model.
  std::string value;
  std::string node;
  std::string op;
  Metrics metrics;
  Verdict verdict_from = Verdict::missing;  ///< of that layer
  Verdict verdict_to = Verdict::missing;
  std::optional<std::size_t> culprit = {};  ///< the replacement that makes this value, or leads to it
};

/// Neighbours with different outcomes.
struct LevelChange {
  std::string from;
  std::string to;
  std::string from_outcome;  ///< "right", "fault at conv1", "failed", "other bits"
  std::string to_outcome;
};

/// All levels' steps but one.
struct LevelWithout {
  std::string level;
  std::string target;
  std::string outcome;
};

struct LevelBisect {
  std::string option;
  std::vector<LevelResult> levels;
  std::optional<std::size_t> differs_at = {};  ///< the first level whose outputs differ from the first one's
  std::optional<std::size_t> worse_at = {};    ///< the first whose verdict is worse
  std::vector<LevelStep> steps;                ///< to differs_at, and to worse_at where that is another
  bool ordered = false;  ///< neighbours are alike but for one step; not every level was run
  bool by_bits = false;  ///< searched by the outputs' bits: the verdicts of both ends are the same
  bool flaky = false;    ///< runs of one level had several outcomes
  std::vector<LevelChange> transitions;
  std::vector<LevelWithout> without;  ///< for each transition
  std::string why_no_nodes;           ///< why no rewritten models were compared; empty: they were
};

/// Errors: no level ran.
[[nodiscard]] Result<LevelBisect> bisect_levels(const Graph& graph, std::string option,
                                                std::span<const LevelRun> runs);

/// What was rewritten from one model to the other: nodes that are not in the other one, put together where
/// values lead from one to the next. Nodes are the same if operator, inputs and outputs are.
[[nodiscard]] std::vector<Replacement> compare_outlines(const ModelOutline& before,
                                                        const ModelOutline& after);

}  // namespace driftscope
