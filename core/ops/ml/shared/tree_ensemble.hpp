// Decision trees as flat arrays: read once from the attributes of a node and checked, then walked row by row.
// Clients: the operators TreeEnsemble, TreeEnsembleRegressor, TreeEnsembleClassifier and the strict kernel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ops/ml/shared/ml_attributes.hpp"

namespace driftscope::ml {

enum class Branch : std::uint8_t { leq, lt, gte, gt, eq, neq, member, leaf };
enum class Aggregate : std::uint8_t { average, sum, min, max };

struct TreeNode {
  double threshold = 0.0;  ///< of a `member` node the number of its set
  std::int32_t feature = 0;
  std::int32_t yes = 0;  ///< index of the next node; of a leaf the first of its weights
  std::int32_t no = 0;   ///< of a leaf the end of its weights
  Branch branch = Branch::leaf;
  bool nan_is_yes = false;
};

struct LeafWeight {
  std::int32_t target = 0;
  double value = 0.0;
};

struct TreeEnsemble {
  std::vector<TreeNode> nodes;
  std::vector<std::int32_t> roots;
  std::vector<LeafWeight> weights;
  std::vector<std::vector<double>> sets;  ///< of `member` nodes
  std::int64_t targets = 1;
  std::int64_t features = 0;  ///< that the nodes need: the largest index and one
  Aggregate aggregate = Aggregate::sum;
  Transform transform = Transform::none;
  std::vector<double> base;  ///< for each target, or none

  // Of a classifier.
  Labels labels;
  bool one_score = false;     ///< two labels, but weights for the first alone: they speak for the second
  bool second_alone = false;  ///< two labels, and weights for the second alone
  bool all_positive = false;  ///< no weight is negative: scores are taken for probabilities
};

/// Of TreeEnsembleRegressor (1, 3), TreeEnsembleClassifier (1, 3) or TreeEnsemble (5). Errors name the
/// attribute, what was expected and what found: lists of different lengths, children that do not exist,
/// cycles, classes out of range. What is valid but defined nowhere is unsupported.
[[nodiscard]] Result<TreeEnsemble> read_tree_ensemble(const Node& node);

/// Types of the outputs of such a node.
[[nodiscard]] Result<std::vector<TensorType>> tree_ensemble_types(const InferContext& context);

/// Scores of rows, [rows, targets]; of a classifier also labels, and where rounding may have changed them
/// their bounds, one for each row (empty: not asked for). `x(i)` is element i of the input.
template <class S>
class TreeRows {
 public:
  TreeRows(const TreeEnsemble& trees, const Numbers<S>& x, Rows rows, std::span<S> scores,
           std::span<std::int64_t> labels, std::span<Bounded> bounds)
      : trees_(trees), x_(x), rows_(rows), scores_(scores), labels_(labels), bounds_(bounds) {}

  /// The smallest number of rows worth a task.
  [[nodiscard]] std::int64_t grain() const;
  void run(std::int64_t begin, std::int64_t end) const;

 private:
  struct Row;
  void walk(std::int32_t root, std::int64_t first, Row& row) const;
  void walk_both(std::int32_t from, std::int64_t first, Row& row) const;
  void finish(Row& row, std::int64_t index) const;
  void finish_classes(Row& row, std::int64_t index) const;
  void set_label(std::int64_t index, std::size_t best, std::span<const std::size_t> rivals) const;

  const TreeEnsemble& trees_;
  const Numbers<S>& x_;
  Rows rows_;
  std::span<S> scores_;
  std::span<std::int64_t> labels_;
  std::span<Bounded> bounds_;
};

extern template class TreeRows<double>;
extern template class TreeRows<Bounded>;
extern template class TreeRows<float>;

}  // namespace driftscope::ml
