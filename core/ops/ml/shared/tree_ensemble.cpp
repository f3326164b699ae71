// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/ml/shared/tree_ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace driftscope::ml {
namespace {

bool goes_yes(const TreeEnsemble& trees, const TreeNode& node, double x) {
  if (x != x) return node.nan_is_yes || node.branch == Branch::neq;
  switch (node.branch) {
    case Branch::leq: return x <= node.threshold;
    case Branch::lt: return x < node.threshold;
    case Branch::gte: return x >= node.threshold;
    case Branch::gt: return x > node.threshold;
    case Branch::eq: return x == node.threshold;
    case Branch::neq: return x != node.threshold;
    case Branch::member: {
      const std::vector<double>& set = trees.sets[static_cast<std::size_t>(node.threshold)];
      return std::binary_search(set.begin(), set.end(), x);
    }
    case Branch::leaf: break;
  }
  return false;
}

// Whether an input that is off by so much may be on the other side.
bool may_turn(const TreeEnsemble& trees, const TreeNode& node, double x, double error) {
  if (error == 0.0) return false;
  if (node.branch != Branch::member) return !(std::fabs(x - node.threshold) > error);
  const std::vector<double>& set = trees.sets[static_cast<std::size_t>(node.threshold)];
  return std::ranges::any_of(set, [&](double one) { return !(std::fabs(x - one) > error); });
}

}  // namespace

template <class S>
struct TreeRows<S>::Row {
  std::vector<Sum<S>> sums;  // by target
  std::vector<S> scores;
  std::vector<std::uint8_t> seen;  // targets with a weight
  // Of a tree whose branches rounding may have changed: weights by target, and how far they may be off.
  std::vector<double> taken = {};
  std::vector<double> other = {};
  std::vector<double> spread = {};
  std::vector<std::int32_t> path = {};
  std::set<std::int32_t> reached = {};  // nodes may be shared, by more paths than can be walked
};

template <class S>
std::int64_t TreeRows<S>::grain() const {
  return std::max<std::int64_t>(1, 2048 / static_cast<std::int64_t>(trees_.roots.size()));
}

// Of inputs with errors: every leaf that may be reached. The value is the leaf of the values themselves.
template <class S>
void TreeRows<S>::walk_both(std::int32_t from, std::int64_t first, Row& row) const {
  if constexpr (std::is_same_v<S, Bounded>) {
    const auto leaf_of = [&](std::int32_t at, std::vector<double>& by_target) {
      const TreeNode& leaf = trees_.nodes[static_cast<std::size_t>(at)];
      by_target.assign(static_cast<std::size_t>(trees_.targets), 0.0);
      for (std::int32_t w = leaf.yes; w < leaf.no; ++w) {
        const LeafWeight& weight = trees_.weights[static_cast<std::size_t>(w)];
        by_target[static_cast<std::size_t>(weight.target)] += weight.value;
        row.seen[static_cast<std::size_t>(weight.target)] = 1;
      }
    };
    const std::vector<std::uint8_t> had = row.seen;
    std::int32_t at = from;
    while (trees_.nodes[static_cast<std::size_t>(at)].branch != Branch::leaf) {
      const TreeNode& node = trees_.nodes[static_cast<std::size_t>(at)];
      at = goes_yes(trees_, node, math::to_double(x_[first + node.feature])) ? node.yes : node.no;
    }
    leaf_of(at, row.taken);
    row.spread.assign(row.taken.size(), 0.0);
    row.path.assign(1, from);
    row.reached.clear();
    while (!row.path.empty()) {
      const std::int32_t now = row.path.back();
      const TreeNode& node = trees_.nodes[static_cast<std::size_t>(now)];
      row.path.pop_back();
      if (!row.reached.insert(now).second) continue;
      if (node.branch == Branch::leaf) {
        leaf_of(now, row.other);
        for (std::size_t t = 0; t < row.spread.size(); ++t)
          row.spread[t] = std::fmax(row.spread[t], std::fabs(row.other[t] - row.taken[t]));
        continue;
      }
      const Bounded x = x_[first + node.feature];
      const bool yes = goes_yes(trees_, node, x.value);
      const bool both = may_turn(trees_, node, x.value, x.worst);
      if (yes || both) row.path.push_back(node.yes);
      if (!yes || both) row.path.push_back(node.no);
    }
    for (std::size_t t = 0; t < row.spread.size(); ++t) {
      const Bounded term(row.taken[t], row.spread[t], row.spread[t]);
      Bounded& score = row.scores[t];
      switch (trees_.aggregate) {
        case Aggregate::sum:
        case Aggregate::average: row.sums[t].add(term); break;
        case Aggregate::min: score = had[t] != 0 ? math::min(score, term) : term; break;
        case Aggregate::max: score = had[t] != 0 ? math::max(score, term) : term; break;
      }
    }
  }
}

template <class S>
void TreeRows<S>::walk(std::int32_t root, std::int64_t first, Row& row) const {
  const TreeNode* node = &trees_.nodes[static_cast<std::size_t>(root)];
  while (node->branch != Branch::leaf) {
    const S x = x_[first + node->feature];
    if constexpr (std::is_same_v<S, Bounded>)
      if (may_turn(trees_, *node, x.value, x.worst)) return walk_both(root, first, row);
    node = &trees_.nodes[static_cast<std::size_t>(goes_yes(trees_, *node, math::to_double(x)) ? node->yes
                                                                                              : node->no)];
  }
  for (std::int32_t w = node->yes; w < node->no; ++w) {
    const LeafWeight& weight = trees_.weights[static_cast<std::size_t>(w)];
    const auto target = static_cast<std::size_t>(weight.target);
    const S value = math::exact<S>(weight.value);
    S& score = row.scores[target];
    switch (trees_.aggregate) {
      case Aggregate::sum:
      case Aggregate::average: row.sums[target].add(value); break;
      case Aggregate::min: score = row.seen[target] != 0 ? math::min(score, value) : value; break;
      case Aggregate::max: score = row.seen[target] != 0 ? math::max(score, value) : value; break;
    }
    row.seen[target] = 1;
  }
}

template <class S>
void TreeRows<S>::set_label(std::int64_t index, std::size_t best, std::span<const std::size_t> rivals) const {
  const auto at = static_cast<std::size_t>(index);
  if (labels_.empty()) return;
  labels_[at] = trees_.labels.numbers[best];
  if (!bounds_.empty()) bounds_[at] = label_bound(trees_.labels, best, rivals);
}

// The labels follow the scores before the transform.
template <class S>
void TreeRows<S>::finish_classes(Row& row, std::int64_t index) const {
  std::vector<S>& scores = row.scores;
  const auto limit = trees_.all_positive ? 0.5 : 0.0;
  const auto by_limit = [&](const S& score) {
    const std::size_t best = math::to_double(score) > limit ? 1 : 0;
    const std::size_t other = 1 - best;
    bool open = false;
    if constexpr (std::is_same_v<S, Bounded>)
      open = score.worst > 0.0 && !(std::fabs(score.value - limit) > score.worst);
    set_label(index, best, std::span(&other, open ? 1 : 0));
  };
  if (trees_.labels.count == 1) {  // the sign of the score, as 1 or 0, whatever the label; without transform
    const auto at = static_cast<std::size_t>(index);
    const double score = math::to_double(scores[0]);
    if (!labels_.empty()) labels_[at] = score > 0.0 ? 1 : 0;
    if constexpr (std::is_same_v<S, Bounded>)
      if (!bounds_.empty()) {
        const double far = scores[0].worst > 0.0 && !(std::fabs(score) > scores[0].worst) ? 1.0 : 0.0;
        bounds_[at] = {score > 0.0 ? 1.0 : 0.0, far, far};
      }
  } else if (trees_.one_score) {
    const S score = scores[0];
    by_limit(score);
    if (trees_.transform == Transform::logistic) {
      scores = {-score, score};
      apply_transform<S>(trees_.transform, scores);
    } else {
      scores = {trees_.all_positive ? math::exact<S>(1.0) - score : -score, score};
    }
  } else if (trees_.second_alone) {
    by_limit(scores[1]);
    apply_transform<S>(trees_.transform, scores);
  } else {
    // A class without any weight is no candidate for ONNX Runtime, and one with 0 for ONNX's evaluator.
    std::vector<std::size_t> rivals;
    std::vector<S> candidates = scores;
    for (std::size_t t = 0; t < scores.size(); ++t)
      if (row.seen[t] == 0) candidates[t] = math::exact<S>(-std::numeric_limits<double>::infinity());
    const std::size_t best = largest_score<S>(candidates, &rivals);
    for (std::size_t t = 0; t < scores.size(); ++t)
      if (row.seen[t] == 0 && math::to_double(scores[t]) >= math::to_double(scores[best]))
        rivals.push_back(t);
    set_label(index, best, rivals);
    apply_transform<S>(trees_.transform, scores);
  }
}

template <class S>
void TreeRows<S>::finish(Row& row, std::int64_t index) const {
  for (std::size_t t = 0; t < row.scores.size(); ++t) {
    S& score = row.scores[t];
    const bool has_base = t < trees_.base.size();
    const S base = math::exact<S>(has_base ? trees_.base[t] : 0.0);
    if (has_base) row.seen[t] = 1;
    if (trees_.aggregate == Aggregate::sum) {
      if (has_base && std::is_same_v<S, Bounded>) row.sums[t].add(base);  // some begin with it
      score = row.sums[t].result();
      if (std::is_same_v<S, Bounded>) continue;
    } else if (trees_.aggregate == Aggregate::average) {
      score = row.sums[t].result() / math::exact<S>(static_cast<double>(trees_.roots.size()));
    }
    if (has_base) score = score + base;
  }
  if (trees_.labels.count > 0)
    finish_classes(row, index);
  else
    apply_transform<S>(trees_.transform, row.scores);
  std::copy(row.scores.begin(), row.scores.end(), scores_.begin() + index * trees_.targets);
}

template <class S>
void TreeRows<S>::run(std::int64_t begin, std::int64_t end) const {
  const auto targets = static_cast<std::size_t>(trees_.targets);
  Row row{std::vector<Sum<S>>(targets), {}, {}};
  for (std::int64_t i = begin; i < end; ++i) {
    for (Sum<S>& sum : row.sums) sum = Sum<S>();
    row.scores.assign(targets, S(0));
    row.seen.assign(targets, 0);
    for (const std::int32_t root : trees_.roots) walk(root, i * rows_.features, row);
    finish(row, i);
  }
}

template class TreeRows<double>;
template class TreeRows<Bounded>;
template class TreeRows<float>;

}  // namespace driftscope::ml
