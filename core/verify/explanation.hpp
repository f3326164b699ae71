// Why a layer is wrong, as far as that is known: the cause, how far other hypotheses get, and where the wrong
// elements are. Clients: causes, which finds it; results, report and the screens, which show it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/verify/error_map.hpp"
#include "core/verify/error_pattern.hpp"
#include "core/verify/verdict.hpp"

namespace driftscope {

/// A faulty variant that computes what was recorded: every element is within its budget.
struct Cause {
  std::string id;    ///< "attribute.auto_pad_swapped"
  std::string text;  ///< "SAME_UPPER and SAME_LOWER exchanged (auto_pad SAME_LOWER)"
  std::map<std::string, double> parameters = {};
  double budget_before = 0.0;  ///< the largest error as a share of the right operator's budget
  double budget_after = 0.0;   ///< and of the variant's
  std::int64_t elements = 0;
  std::int64_t explained = 0;  ///< of them within the variant's budget: all
  double chance = 0.0;         ///< at most: that elements that are wrong otherwise look like this by accident
};

/// A faulty variant that explains some of the elements, or all of them and may do so by accident.
struct Hypothesis {
  std::string id;
  std::string text;
  double budget_after = 0.0;
  std::int64_t explained = 0;
};

/// The causal test: the target's answer with the right tensor put into its run in place of its own.
struct CausalTest {
  std::string answer_with_layer_right;  ///< in words
  bool right = false;
};

/// The causal tests of all wrong layers of a run together.
struct CausalSummary {
  std::string target = {};
  bool was_right = false;                    ///< the answer with all of them wrong
  std::vector<std::string> alone = {};       ///< nodes: with any of them right, the answer is right
  std::int64_t layers = 0;                   ///< wrong ones that were tested
  std::optional<bool> together = {};         ///< the answer with all of them right, where none alone suffices
  std::vector<std::string> not_tested = {};  ///< nodes, and why
};

/// "with conv2 alone right, the answer is right on chrome/ort-webgpu"; sentences without a full stop.
[[nodiscard]] std::string causal_text(const CausalSummary& summary);

/// "with conv2 right the answer is right", for the headline; empty where nothing is to be said.
[[nodiscard]] std::string causal_headline(const CausalSummary& summary);

struct LayerExplanation {
  std::string node = {};
  std::string op = {};
  std::string output = {};  ///< value name
  Verdict verdict = Verdict::fault;
  std::int64_t elements = 0;
  std::int64_t wrong = 0;  ///< beyond the right operator's budget
  std::int64_t tried = 0;  ///< hypotheses, with their parameters
  std::optional<Cause> cause = {};
  std::vector<Hypothesis> hypotheses = {};  ///< best first
  std::optional<ErrorPattern> pattern = {};
  std::optional<ErrorMap> map = {};        ///< where the wrong elements are
  std::optional<CausalTest> matters = {};  ///< where it was asked for
};

/// "explained by the bias left out: the largest error falls from 731 × to 0.30 × the budget in all 4,704
/// elements", or the best that is known; a sentence without a full stop.
[[nodiscard]] std::string explanation_text(const LayerExplanation& explanation);

}  // namespace driftscope
