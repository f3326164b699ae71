// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/text.hpp"
#include "core/ops/ml/shared/tree_ensemble.hpp"
#include "core/ops/shared/domains.hpp"

namespace driftscope::ml {
namespace {

using Longs = std::span<const std::int64_t>;
constexpr std::int64_t max_index = std::numeric_limits<std::int32_t>::max() - 1;

Result<Longs> longs(const Node& node, std::string_view name, std::size_t expected, std::string_view why) {
  DRIFTSCOPE_TRY(const Longs list, list_attribute<std::int64_t>(node, name));
  DRIFTSCOPE_CHECK(expect_size(name, list.size(), expected, why));
  return list;
}

Error out_of_range(std::string_view attribute, std::size_t i, std::int64_t value, std::int64_t end) {
  return bad_input(
      fmt::format("attribute {}: value {} is {}, expected 0 to {}", attribute, i, value, end - 1));
}

Status check_index(std::string_view attribute, std::size_t i, std::int64_t value, std::int64_t end) {
  if (value >= 0 && value < end) return {};
  return out_of_range(attribute, i, value, end);
}

Result<Branch> branch_of(const std::string& name, std::size_t i) {
  constexpr std::array<std::string_view, 8> names = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                                     "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
  const auto found = std::ranges::find(names, name);
  if (found != names.end() && *found != "BRANCH_MEMBER") return static_cast<Branch>(found - names.begin());
  return bad_input(
      fmt::format("attribute nodes_modes: value {} is {}, expected BRANCH_LEQ, BRANCH_LT, "
                  "BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ or LEAF",
                  i, in_quotes(name)));
}

Status set_feature(TreeEnsemble& trees, TreeNode& node, std::size_t i, std::int64_t feature) {
  DRIFTSCOPE_CHECK(check_index("nodes_featureids", i, feature, max_index));
  node.feature = static_cast<std::int32_t>(feature);
  trees.features = std::max(trees.features, feature + 1);
  return {};
}

/// Every walk from a root ends in a leaf.
Status expect_no_cycles(const TreeEnsemble& trees) {
  const auto forward = [&](std::int32_t i) {
    const TreeNode& node = trees.nodes[static_cast<std::size_t>(i)];
    return node.branch == Branch::leaf || (node.yes > i && node.no > i);
  };
  bool ordered = true;  // as converters write trees
  for (std::size_t i = 0; i < trees.nodes.size() && ordered; ++i)
    ordered = forward(static_cast<std::int32_t>(i));
  if (ordered) return {};
  enum : std::uint8_t { unseen, open, closed };
  std::vector<std::uint8_t> state(trees.nodes.size(), unseen);
  std::vector<std::int32_t> path;
  for (std::size_t start = 0; start < trees.nodes.size(); ++start) {
    if (state[start] != unseen) continue;
    path.assign(1, static_cast<std::int32_t>(start));
    while (!path.empty()) {
      const std::int32_t at = path.back();
      const TreeNode& node = trees.nodes[static_cast<std::size_t>(at)];
      const bool entered = state[static_cast<std::size_t>(at)] == open;
      state[static_cast<std::size_t>(at)] = entered || node.branch == Branch::leaf ? closed : open;
      if (state[static_cast<std::size_t>(at)] == closed) {
        path.pop_back();
        continue;
      }
      for (const std::int32_t child : {node.yes, node.no}) {
        const auto seen = state[static_cast<std::size_t>(child)];
        if (seen == open)
          return bad_input(
              fmt::format("attributes nodes_truenodeids and nodes_falsenodeids: expected trees, "
                          "but entry {} is its own ancestor (from entry {})",
                          child, at));
        if (seen == unseen) path.push_back(child);
      }
    }
  }
  return {};
}

/// Entries of one tree lie one after another; most converters number its nodes 0, 1, 2, …
class Places {
 public:
  Places(Longs trees, Longs nodes) : trees_(trees), nodes_(nodes) {}

  Status add_trees() {
    for (std::size_t i = 0; i < trees_.size(); ++i)
      if (i == 0 || trees_[i] != trees_[i - 1])
        runs_.push_back({trees_[i], i, i, true, {}});
      else
        runs_.back().end = i;
    for (Run& run : runs_) {
      ++run.end;
      for (std::size_t i = run.begin; i < run.end && run.counted; ++i)
        run.counted = nodes_[i] == static_cast<std::int64_t>(i - run.begin);
      if (run.counted) continue;
      for (std::size_t i = run.begin; i < run.end; ++i) run.sorted.push_back({nodes_[i], i});
      std::sort(run.sorted.begin(), run.sorted.end());
      for (std::size_t i = 1; i < run.sorted.size(); ++i)
        if (run.sorted[i].first == run.sorted[i - 1].first)
          return bad_input(fmt::format("attribute nodes_nodeids: tree {} has node {} twice", run.tree,
                                       run.sorted[i].first));
    }
    for (std::size_t r = 0; r < runs_.size(); ++r) by_tree_.push_back({runs_[r].tree, r});
    std::sort(by_tree_.begin(), by_tree_.end());
    for (std::size_t r = 1; r < by_tree_.size(); ++r)
      if (by_tree_[r].first == by_tree_[r - 1].first)
        return unsupported(
            fmt::format("attribute nodes_treeids: the nodes of tree {} are not together", by_tree_[r].first));
    return {};
  }

  /// The entry of a node of a tree; those of the same tree in turn are found fastest.
  Result<std::int32_t> find(std::string_view attribute, std::int64_t tree, std::int64_t node) {
    if (runs_[last_].tree != tree) {
      const auto found = std::lower_bound(by_tree_.begin(), by_tree_.end(), std::pair(tree, std::size_t{0}));
      if (found == by_tree_.end() || found->first != tree)
        return bad_input(fmt::format("attribute {}: tree {} does not exist", attribute, tree));
      last_ = found->second;
    }
    const Run& run = runs_[last_];
    const auto count = static_cast<std::int64_t>(run.end - run.begin);
    if (run.counted && node >= 0 && node < count)
      return static_cast<std::int32_t>(run.begin) + static_cast<std::int32_t>(node);
    if (!run.counted) {
      const auto found =
          std::lower_bound(run.sorted.begin(), run.sorted.end(), std::pair(node, std::size_t{0}));
      if (found != run.sorted.end() && found->first == node) return static_cast<std::int32_t>(found->second);
    }
    return bad_input(fmt::format("attribute {}: tree {} has no node {}", attribute, tree, node));
  }

  void add_roots(std::vector<std::int32_t>& roots) const {
    for (const Run& run : runs_) roots.push_back(static_cast<std::int32_t>(run.begin));
  }

 private:
  struct Run {
    std::int64_t tree;
    std::size_t begin;
    std::size_t end;
    bool counted;  // its nodes are 0, 1, 2, …
    std::vector<std::pair<std::int64_t, std::size_t>> sorted;
  };
  Longs trees_;
  Longs nodes_;
  std::vector<Run> runs_;
  std::vector<std::pair<std::int64_t, std::size_t>> by_tree_;
  std::size_t last_ = 0;
};

/// One for each node, or none at all.
Result<Longs> missing_tracks(const Node& node, std::size_t count, std::string_view why) {
  constexpr std::string_view name = "nodes_missing_value_tracks_true";
  DRIFTSCOPE_TRY(Longs missing, list_attribute<std::int64_t>(node, name));
  if (!missing.empty()) DRIFTSCOPE_CHECK(expect_size(name, missing.size(), count, why));
  return missing;
}

Status read_nodes(const Node& node, Places& places, Longs tree_ids, TreeEnsemble& trees) {
  const std::size_t count = tree_ids.size();
  constexpr std::string_view why = "as nodes_treeids";
  DRIFTSCOPE_TRY(const auto modes, list_attribute<std::string>(node, "nodes_modes"));
  DRIFTSCOPE_CHECK(expect_size("nodes_modes", modes.size(), count, why));
  DRIFTSCOPE_TRY(const Longs features, longs(node, "nodes_featureids", count, why));
  DRIFTSCOPE_TRY(const Longs yes, longs(node, "nodes_truenodeids", count, why));
  DRIFTSCOPE_TRY(const Longs no, longs(node, "nodes_falsenodeids", count, why));
  DRIFTSCOPE_TRY(const Reals values, reals_attribute(node, "nodes_values"));
  DRIFTSCOPE_CHECK(expect_size("nodes_values", values.size(), count, why));
  DRIFTSCOPE_TRY(const Longs missing, missing_tracks(node, count, why));
  trees.nodes.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    TreeNode& one = trees.nodes[i];
    DRIFTSCOPE_TRY(one.branch, branch_of(modes[i], i));
    if (one.branch == Branch::leaf) continue;
    one.threshold = values[i];
    one.nan_is_yes = !missing.empty() && missing[i] == 1;
    DRIFTSCOPE_CHECK(set_feature(trees, one, i, features[i]));
    DRIFTSCOPE_TRY(one.yes, places.find("nodes_truenodeids", tree_ids[i], yes[i]));
    DRIFTSCOPE_TRY(one.no, places.find("nodes_falsenodeids", tree_ids[i], no[i]));
  }
  return {};
}

/// Weights in the order of the entries that they belong to, each entry's in their own order.
Status read_weights(const Node& node, std::string_view prefix, Places& places, TreeEnsemble& trees) {
  const auto name = [&](std::string_view part) { return fmt::format("{}_{}", prefix, part); };
  DRIFTSCOPE_TRY(const Longs ids, list_attribute<std::int64_t>(node, name("ids")));
  const std::string why = "as " + name("ids");
  DRIFTSCOPE_TRY(const Longs tree_ids, longs(node, name("treeids"), ids.size(), why));
  DRIFTSCOPE_TRY(const Longs node_ids, longs(node, name("nodeids"), ids.size(), why));
  DRIFTSCOPE_TRY(const Reals values, reals_attribute(node, name("weights")));
  DRIFTSCOPE_CHECK(expect_size(name("weights"), values.size(), ids.size(), why));
  if (ids.empty()) return bad_input(fmt::format("attribute {}: it is missing or empty", name("ids")));
  std::vector<std::int32_t> entries(ids.size());
  std::vector<std::int32_t> ends(trees.nodes.size() + 1, 0);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    DRIFTSCOPE_CHECK(check_index(name("ids"), i, ids[i], trees.targets));
    DRIFTSCOPE_TRY(entries[i], places.find(name("nodeids"), tree_ids[i], node_ids[i]));
    ++ends[static_cast<std::size_t>(entries[i]) + 1];
  }
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
  for (std::size_t i = 0; i < trees.nodes.size(); ++i)
    if (trees.nodes[i].branch == Branch::leaf) {
      trees.nodes[i].yes = ends[i];
      trees.nodes[i].no = ends[i + 1];
    }
  trees.weights.resize(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    trees.weights[static_cast<std::size_t>(ends[static_cast<std::size_t>(entries[i])]++)] = {
        static_cast<std::int32_t>(ids[i]), values[i]};
  return {};
}

Result<Aggregate> aggregate_of(const Node& node) {
  constexpr std::array<std::string_view, 4> names = {"AVERAGE", "SUM", "MIN", "MAX"};
  DRIFTSCOPE_TRY(const std::string name, string_attribute(node, "aggregate_function", "SUM"));
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<Aggregate>(found - names.begin());
  return bad_input(fmt::format("attribute aggregate_function: expected AVERAGE, SUM, MIN or MAX, got {}",
                               in_quotes(name)));
}

Status expect_count(std::string_view name, std::size_t count) {
  if (count == 0) return bad_input(fmt::format("attribute {}: it is missing or empty: no trees", name));
  if (static_cast<std::int64_t>(count) >= max_index)
    return limit_error(fmt::format("attribute {}: {} values are too many", name, count));
  return {};
}

// One score for two labels: weights are all of the first class and speak for the second (ONNX Runtime, and
// what converters write for binary classifiers).
Status read_class_rules(TreeEnsemble& trees) {
  trees.all_positive = true;
  std::array<bool, 2> used{};
  for (const LeafWeight& weight : trees.weights) {
    trees.all_positive = trees.all_positive && !(weight.value < 0.0);
    if (weight.target < 2) used[static_cast<std::size_t>(weight.target)] = true;
  }
  if (trees.targets != 2) return {};
  trees.one_score = !used[1] && trees.base.size() < 2;
  trees.second_alone = !used[0] && trees.base.empty();
  if (trees.one_score && trees.transform == Transform::probit)
    return unsupported("attribute post_transform: PROBIT of the one score of two classes is not defined");
  return {};
}

Status read_base(const Node& node, TreeEnsemble& trees, bool classes) {
  DRIFTSCOPE_TRY(const Reals base, reals_attribute(node, "base_values"));
  for (std::size_t i = 0; i < base.size(); ++i) trees.base.push_back(base[i]);
  const bool one_of_two = classes && trees.targets == 2 && base.size() == 1;
  if (base.empty() || one_of_two) return {};
  return expect_size("base_values", base.size(), static_cast<std::size_t>(trees.targets),
                     classes ? "as there are classes" : "n_targets");
}

Result<TreeEnsemble> read_listed(const Node& node, bool classes) {
  TreeEnsemble trees;
  DRIFTSCOPE_TRY(trees.transform, transform_attribute(node));
  if (classes) {
    DRIFTSCOPE_TRY(trees.labels, read_labels(node, "classlabels_int64s", "classlabels_strings"));
    trees.targets = static_cast<std::int64_t>(trees.labels.count);
  } else {
    DRIFTSCOPE_TRY(trees.aggregate, aggregate_of(node));
    DRIFTSCOPE_TRY(trees.targets, int_attribute(node, "n_targets", 1));
    if (trees.targets < 1 || trees.targets >= max_index)
      return bad_input(fmt::format("attribute n_targets: expected at least 1, got {}", trees.targets));
  }
  DRIFTSCOPE_TRY(const Longs tree_ids, list_attribute<std::int64_t>(node, "nodes_treeids"));
  DRIFTSCOPE_CHECK(expect_count("nodes_treeids", tree_ids.size()));
  DRIFTSCOPE_TRY(const Longs node_ids, longs(node, "nodes_nodeids", tree_ids.size(), "as nodes_treeids"));
  Places places(tree_ids, node_ids);
  DRIFTSCOPE_CHECK(places.add_trees());
  DRIFTSCOPE_CHECK(read_nodes(node, places, tree_ids, trees));
  DRIFTSCOPE_CHECK(expect_no_cycles(trees));
  DRIFTSCOPE_CHECK(read_weights(node, classes ? "class" : "target", places, trees));
  places.add_roots(trees.roots);
  DRIFTSCOPE_CHECK(read_base(node, trees, classes));
  if (classes) {
    DRIFTSCOPE_CHECK(read_class_rules(trees));
    if (trees.targets == 2 && trees.base.size() == 1 && !trees.one_score)
      return unsupported("attribute base_values: one value for two classes with scores is not defined");
  }
  return trees;
}

// Opset 5: leaves apart from nodes. Here they follow the nodes; node i stays entry i.
Status read_leaves(const Node& node, TreeEnsemble& trees) {
  DRIFTSCOPE_TRY(const Longs targets, list_attribute<std::int64_t>(node, "leaf_targetids"));
  DRIFTSCOPE_CHECK(expect_count("leaf_targetids", targets.size()));
  DRIFTSCOPE_TRY(const Reals values, real_tensor_attribute(node, "leaf_weights"));
  DRIFTSCOPE_CHECK(expect_size("leaf_weights", values.size(), targets.size(), "as leaf_targetids"));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    DRIFTSCOPE_CHECK(check_index("leaf_targetids", i, targets[i], trees.targets));
    trees.weights.push_back({static_cast<std::int32_t>(targets[i]), values[i]});
    TreeNode leaf;
    leaf.yes = static_cast<std::int32_t>(i);
    leaf.no = leaf.yes + 1;
    trees.nodes.push_back(leaf);
  }
  return {};
}

// Sets are in the order of the nodes that have them, each ended by a NaN.
Status read_sets(const Node& node, TreeEnsemble& trees) {
  DRIFTSCOPE_TRY(const Reals members, real_tensor_attribute(node, "membership_values"));
  std::size_t at = 0;
  for (TreeNode& one : trees.nodes) {
    if (one.branch != Branch::member) continue;
    one.threshold = static_cast<double>(trees.sets.size());
    std::vector<double>& set = trees.sets.emplace_back();
    while (at < members.size() && members[at] == members[at]) set.push_back(members[at++]);
    if (at == members.size())
      return bad_input(
          fmt::format("attribute membership_values: expected a set ended by NaN for each node of "
                      "mode 6 (member), got {} sets",
                      trees.sets.size() - 1));
    ++at;
    std::sort(set.begin(), set.end());
  }
  if (at == members.size()) return {};
  return bad_input(
      fmt::format("attribute membership_values: expected {} values for the nodes of mode 6 "
                  "(member), got {}",
                  at, members.size()));
}

Status read_splits(const Node& node, std::size_t leaves, TreeEnsemble& trees) {
  DRIFTSCOPE_TRY(const Longs features, list_attribute<std::int64_t>(node, "nodes_featureids"));
  DRIFTSCOPE_CHECK(expect_count("nodes_featureids", features.size()));
  const std::size_t count = features.size();
  constexpr std::string_view why = "as nodes_featureids";
  DRIFTSCOPE_CHECK(expect_count("nodes_featureids", count + leaves));
  DRIFTSCOPE_TRY(const auto modes, byte_tensor_attribute(node, "nodes_modes"));
  DRIFTSCOPE_CHECK(expect_size("nodes_modes", modes.size(), count, why));
  DRIFTSCOPE_TRY(const Reals splits, real_tensor_attribute(node, "nodes_splits"));
  DRIFTSCOPE_CHECK(expect_size("nodes_splits", splits.size(), count, why));
  DRIFTSCOPE_TRY(const Longs missing, missing_tracks(node, count, why));
  trees.nodes.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    TreeNode& one = trees.nodes[i];
    DRIFTSCOPE_CHECK(check_index("nodes_modes", i, modes[i], 7));
    one.branch = static_cast<Branch>(modes[i]);
    one.threshold = splits[i];
    one.nan_is_yes = !missing.empty() && missing[i] == 1;
    DRIFTSCOPE_CHECK(set_feature(trees, one, i, features[i]));
  }
  for (const bool yes : {true, false}) {
    const std::string_view id = yes ? "nodes_truenodeids" : "nodes_falsenodeids";
    const std::string_view leaf = yes ? "nodes_trueleafs" : "nodes_falseleafs";
    DRIFTSCOPE_TRY(const Longs next, longs(node, id, count, why));
    DRIFTSCOPE_TRY(const Longs ends, longs(node, leaf, count, why));
    for (std::size_t i = 0; i < count; ++i) {
      DRIFTSCOPE_CHECK(check_index(leaf, i, ends[i], 2));
      DRIFTSCOPE_CHECK(check_index(id, i, next[i], static_cast<std::int64_t>(ends[i] == 1 ? leaves : count)));
      (yes ? trees.nodes[i].yes : trees.nodes[i].no) =
          static_cast<std::int32_t>(next[i] + (ends[i] == 1 ? static_cast<std::int64_t>(count) : 0));
    }
  }
  return read_sets(node, trees);
}

Result<TreeEnsemble> read_split(const Node& node) {
  TreeEnsemble trees;
  DRIFTSCOPE_TRY(const std::int64_t aggregate, int_attribute(node, "aggregate_function", 1));
  if (aggregate < 0 || aggregate > 3)
    return bad_input(fmt::format("attribute aggregate_function: expected 0 to 3, got {}", aggregate));
  trees.aggregate = static_cast<Aggregate>(aggregate);
  DRIFTSCOPE_TRY(const std::int64_t transform, int_attribute(node, "post_transform", 0));
  DRIFTSCOPE_TRY(trees.transform, transform_of(transform));
  DRIFTSCOPE_TRY(trees.targets, int_attribute(node, "n_targets", 1));
  if (trees.targets < 1 || trees.targets >= max_index)
    return bad_input(fmt::format("attribute n_targets: expected at least 1, got {}", trees.targets));
  DRIFTSCOPE_TRY(const Longs leaves, list_attribute<std::int64_t>(node, "leaf_targetids"));
  DRIFTSCOPE_CHECK(read_splits(node, leaves.size(), trees));
  const auto count = static_cast<std::int64_t>(trees.nodes.size());
  DRIFTSCOPE_CHECK(read_leaves(node, trees));
  DRIFTSCOPE_CHECK(expect_no_cycles(trees));
  DRIFTSCOPE_TRY(const Longs roots, list_attribute<std::int64_t>(node, "tree_roots"));
  DRIFTSCOPE_CHECK(expect_count("tree_roots", roots.size()));
  for (std::size_t i = 0; i < roots.size(); ++i) {
    DRIFTSCOPE_CHECK(check_index("tree_roots", i, roots[i], count));
    trees.roots.push_back(static_cast<std::int32_t>(roots[i]));
  }
  return trees;
}

}  // namespace

Result<TreeEnsemble> read_tree_ensemble(const Node& node) {
  if (node.op_type == "TreeEnsemble") return read_split(node);
  return read_listed(node, node.op_type == "TreeEnsembleClassifier");
}

Result<std::vector<TensorType>> tree_ensemble_types(const InferContext& context) {
  const Node& node = context.node();
  DRIFTSCOPE_CHECK(expect_rows(context));
  const bool classes = node.op_type == "TreeEnsembleClassifier";
  std::int64_t width = 1;
  Labels labels;
  if (context.constant(0) == nullptr) {  // else the node is about to run, and the kernel reads them
    DRIFTSCOPE_TRY(const TreeEnsemble trees, read_tree_ensemble(node));
    if (const Dimension got = features_of(context); got.known() && got.size < trees.features)
      return bad_input(fmt::format("attribute nodes_featureids: expected features 0 to {}, as {} has, got {}",
                                   got.size - 1, input_label(0, "X"), trees.features - 1));
    width = trees.targets;
    labels = trees.labels;
  } else if (classes) {
    DRIFTSCOPE_TRY(labels, read_labels(node, "classlabels_int64s", "classlabels_strings"));
    width = static_cast<std::int64_t>(labels.count);
  } else {
    DRIFTSCOPE_TRY(width, int_attribute(node, "n_targets", 1));
    if (width < 1) return bad_input(fmt::format("attribute n_targets: expected at least 1, got {}", width));
  }
  if (classes) return classifier_types(context, labels, width);
  const DType dtype = node.op_type == "TreeEnsemble" ? context.input(0).dtype : DType::float32;
  if (dtype != DType::undefined && !is_floating(dtype))
    return bad_input(
        fmt::format("{}: expected a floating-point type, got {}", input_label(0, "X"), dtype_name(dtype)));
  return std::vector{TensorType{dtype, SymbolicShape{rows_of(context), known_dimension(width)}}};
}

}  // namespace driftscope::ml
