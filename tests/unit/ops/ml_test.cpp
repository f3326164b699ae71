// Operators of ai.onnx.ml in closed form, and models that are refused. Random nodes against ONNX Runtime:
// tests/python/frameworks/test_ml_operators.py.
#include <doctest/doctest.h>

#include <cmath>

#include "core/ops/ml/shared/tree_ensemble.hpp"
#include "unit/ops/one_node.hpp"

namespace driftscope::test::ml_test {
namespace {

using Numbers = std::vector<double>;

OneNode ml(const std::string& op, Given inputs, std::vector<Attribute> attributes, int outputs = 1) {
  return {op, std::move(inputs), std::move(attributes), 21, outputs, "ai.onnx.ml"};
}

OneNode with(OneNode node, std::vector<Attribute> changes) {
  for (Attribute& one : changes) {
    std::erase_if(node.attributes, [&](const Attribute& old) { return old.name == one.name; });
    node.attributes.push_back(std::move(one));
  }
  return node;
}

// Feature 0 at most 0.5: 1, else feature 1 less than −1: 2, else 4; a second tree adds 8.
OneNode regressor(Tensor x) {
  return ml("TreeEnsembleRegressor", {std::move(x)},
            {ints("nodes_treeids", {0, 0, 0, 0, 0, 7}), ints("nodes_nodeids", {0, 1, 2, 3, 4, 9}),
             texts("nodes_modes", {"BRANCH_LEQ", "LEAF", "BRANCH_LT", "LEAF", "LEAF", "LEAF"}),
             ints("nodes_featureids", {0, 0, 1, 0, 0, 0}), reals("nodes_values", {0.5F, 0, -1, 0, 0, 0}),
             ints("nodes_truenodeids", {1, 0, 3, 0, 0, 0}), ints("nodes_falsenodeids", {2, 0, 4, 0, 0, 0}),
             ints("target_treeids", {0, 0, 0, 7}), ints("target_nodeids", {1, 3, 4, 9}),
             ints("target_ids", {0, 0, 0, 0}), reals("target_weights", {1, 2, 4, 8})});
}

OneNode stump(std::vector<std::int64_t> classes, std::vector<float> weights,
              std::vector<std::int64_t> labels) {
  std::vector<std::int64_t> trees(weights.size(), 0);
  return ml("TreeEnsembleClassifier", {floats({2, 1}, {0, 1})},
            {ints("nodes_treeids", {0, 0, 0}), ints("nodes_nodeids", {0, 1, 2}),
             texts("nodes_modes", {"BRANCH_LEQ", "LEAF", "LEAF"}), ints("nodes_featureids", {0, 0, 0}),
             reals("nodes_values", {0.5F, 0, 0}), ints("nodes_truenodeids", {1, 0, 0}),
             ints("nodes_falsenodeids", {2, 0, 0}), ints("class_treeids", trees),
             ints("class_nodeids", weights.size() == 2 ? std::vector<std::int64_t>{1, 2}
                                                       : std::vector<std::int64_t>{1, 1, 1, 2, 2, 2}),
             ints("class_ids", std::move(classes)), reals("class_weights", std::move(weights)),
             ints("classlabels_int64s", std::move(labels))},
            2);
}

void refused(const OneNode& node, const std::string& part) {
  const auto inferred = infer_shapes(node.graph());
  REQUIRE_MESSAGE(!inferred.ok(), "accepted: " << part);
  CHECK_MESSAGE(contains(inferred.error().message, part), inferred.error().message);
  CHECK(contains(inferred.error().message, node.op));
}

}  // namespace

TEST_CASE("TreeEnsembleRegressor_RowsReachTheirLeaves_AndTreesAreSummed") {
  const float nan = std::nanf("");
  const Tensor x = floats({5, 2}, {0.5F, 0, 0.75F, -2, 0.75F, -1, nan, -2, nan, nan});
  CHECK(regressor(x).numbers() == Numbers{9, 10, 12, 10, 12});
  CHECK(with(regressor(x), {ints("nodes_missing_value_tracks_true", {1, 0, 1, 0, 0, 0})}).numbers() ==
        Numbers{9, 10, 12, 9, 9});
  CHECK(with(regressor(x), {text("aggregate_function", "AVERAGE"), reals("base_values", {1})}).numbers() ==
        Numbers{5.5, 6, 7, 6, 7});
  CHECK(with(regressor(x), {text("aggregate_function", "MIN")}).numbers() == Numbers{1, 2, 4, 2, 4});
  CHECK(with(regressor(x), {text("aggregate_function", "MAX")}).numbers() == Numbers{8, 8, 8, 8, 8});
}

// A threshold of float64 between two floats.
TEST_CASE("TreeEnsembleRegressor_ThresholdsAreComparedExactly") {
  const double between = 0.5 + std::ldexp(1.0, -26);
  OneNode node = regressor(floats({2, 2}, {0.5F, 0, 0.5F + std::ldexp(1.0F, -24), 0}));
  std::erase_if(node.attributes, [](const Attribute& one) { return one.name == "nodes_values"; });
  node.attributes.push_back(
      tensor_attribute("nodes_values_as_tensor", tensor<double>({6}, {between, 0, -1, 0, 0, 0})));
  CHECK(node.numbers() == Numbers{9, 12});
}

TEST_CASE("TreeEnsembleRegressor_InputsWithErrorsNearAThreshold_HaveTheBoundsOfBothLeaves") {
  // x + 1 rounds: near 1 the error is some 6e-8.
  ModelBuilder builder;
  builder.opset(21)
      .opset("ai.onnx.ml", 1)
      .input("x", DType::float32, {1, 2})
      .input("one", DType::float32, {1});
  const OneNode node =
      with(regressor(floats({1, 2}, {0, 0})), {reals("nodes_values", {1.5F, 0, -1, 0, 0, 0})});
  builder.node("Add", {"x", "one"}, {"y"})
      .node(node.op, {"y"}, {"z"}, node.attributes, "ai.onnx.ml")
      .output("z");
  ThreadPool threads(1);
  const Graph graph = built(builder);
  const auto bound_of = [&](float x) {
    const std::vector<NamedTensor> given = {{"x", floats({1, 2}, {x, 0})}, {"one", floats({1}, {1})}};
    const auto values = run_graph<Bounded>(graph, given, threads);
    REQUIRE(values.ok());
    return (*values)[graph.outputs[0]].real[0];
  };
  CHECK(bound_of(0.25F).worst < 0.1);
  CHECK(bound_of(0.5F + std::ldexp(1.0F, -24)).worst >= 3.0);  // leaf 1 or 4
}

TEST_CASE("TreeEnsembleClassifier_ThreeClasses_LabelOfTheLargestScore") {
  const OneNode node = stump({0, 1, 2, 0, 1, 2}, {1, 3, 2, 5, 4, 5}, {7, 9, 4});
  const auto results = node.run();
  CHECK(as_doubles(results[0]) == Numbers{9, 7});
  CHECK(as_doubles(results[1]) == Numbers{1, 3, 2, 5, 4, 5});
}

TEST_CASE("TreeEnsembleClassifier_OneScoreForTwoClasses_SpeaksForTheSecond") {
  const auto likely = stump({0, 0}, {0.75F, 0.25F}, {7, 9}).run();
  CHECK(as_doubles(likely[0]) == Numbers{9, 7});
  CHECK(as_doubles(likely[1]) == Numbers{0.25, 0.75, 0.75, 0.25});
  const auto mixed = stump({0, 0}, {0.25F, -2}, {7, 9}).run();
  CHECK(as_doubles(mixed[0]) == Numbers{9, 7});
  CHECK(as_doubles(mixed[1]) == Numbers{-0.25, 0.25, 2, -2});
}

TEST_CASE("TreeEnsemble_Members_AndLeavesApart") {
  const float nan = std::nanf("");
  OneNode node =
      ml("TreeEnsemble", {floats({3, 1}, {2, 5, 3})},
         {ints("nodes_featureids", {0}), tensor_attribute("nodes_modes", tensor<std::uint8_t>({1}, {6})),
          tensor_attribute("nodes_splits", floats({1}, {0})), ints("nodes_truenodeids", {1}),
          ints("nodes_falsenodeids", {0}), ints("nodes_trueleafs", {1}), ints("nodes_falseleafs", {1}),
          tensor_attribute("membership_values", floats({3}, {5, 2, nan})), ints("tree_roots", {0}),
          ints("leaf_targetids", {0, 0}), tensor_attribute("leaf_weights", floats({2}, {10, 20}))});
  node.opset = 21;
  const Graph graph = [&] {
    ModelBuilder builder;
    builder.opset(21).opset("ai.onnx.ml", 5).input("i0", DType::float32, {3, 1});
    builder.node(node.op, {"i0"}, {"o0"}, node.attributes, node.domain).output("o0");
    return built(builder);
  }();
  const auto results = strict_outputs(graph, node.named());
  REQUIRE_MESSAGE(results.ok(), results.error().message);
  CHECK(as_doubles((*results)[0]) == Numbers{20, 20, 10});
}

TEST_CASE("TreeEnsemble_DamagedTrees_AreRefusedWhenTheModelIsRead") {
  const OneNode good = regressor(floats({1, 2}, {0, 0}));
  refused(with(good, {ints("nodes_falsenodeids", {2, 0, 0, 0, 0, 0})}), "is its own ancestor");
  refused(with(good, {ints("nodes_falsenodeids", {5, 0, 4, 0, 0, 0})}), "tree 0 has no node 5");
  refused(with(good, {ints("nodes_featureids", {0, 0, 2, 0, 0, 0})}),
          "nodes_featureids: expected features 0 to 1");
  refused(with(good, {ints("nodes_featureids", {0, 0, -1, 0, 0, 0})}), "nodes_featureids: value 2 is -1");
  refused(with(good, {reals("nodes_values", {1})}),
          "nodes_values: expected 6 values (as nodes_treeids), got 1");
  refused(with(good, {texts("nodes_modes", {"LEAF", "", "LEAF", "LEAF", "LEAF", "LEAF"})}),
          "nodes_modes: value 1");
  refused(with(good, {ints("nodes_nodeids", {0, 1, 2, 3, 3, 9})}), "tree 0 has node 3 twice");
  refused(with(good, {ints("target_treeids", {0, 0, 0, 8})}), "target_nodeids: tree 8 does not exist");
  refused(with(good, {ints("target_ids", {0, 0, 0, 1})}), "target_ids: value 3 is 1, expected 0 to 0");
  refused(with(good, {integer("n_targets", 0)}), "n_targets: expected at least 1, got 0");
  refused(with(good, {ints("nodes_treeids", {})}), "nodes_treeids: it is missing or empty");
  refused(with(good, {text("post_transform", "TANH")}), "post_transform: expected NONE");
  refused(with(good, {reals("base_values", {1, 2})}), "base_values: expected 1 values (n_targets), got 2");
  const OneNode classes = stump({0, 1, 2, 0, 1, 2}, {1, 3, 2, 5, 4, 5}, {7, 9, 4});
  refused(with(classes, {ints("classlabels_int64s", {7, 9})}), "class_ids: value 2 is 2, expected 0 to 1");
  refused(with(classes, {ints("classlabels_int64s", {})}), "one of them is required");
  refused(with(classes, {ints("classlabels_int64s", {}), texts("classlabels_strings", {"a", "\xff", "c"})}),
          "classlabels_strings: expected UTF-8, label 1 is not");
}

TEST_CASE("LinearClassifier_LabelAndSoftmax") {
  const OneNode node = ml("LinearClassifier", {floats({1, 2}, {1, 2})},
                          {reals("coefficients", {1, 0, 0, 1}), reals("intercepts", {0.5F, 0}),
                           ints("classlabels_ints", {3, 8}), text("post_transform", "LOGISTIC")},
                          2);
  const auto results = strict_outputs(node.graph(), node.named());
  REQUIRE_MESSAGE(results.ok(), results.error().message);
  CHECK(as_doubles((*results)[0]) == Numbers{8});
  CHECK(as_doubles((*results)[1])[0] == doctest::Approx(1 / (1 + std::exp(-1.5))));
  CHECK(as_doubles((*results)[1])[1] == doctest::Approx(1 / (1 + std::exp(-2.0))));
  refused(with(node, {reals("coefficients", {1, 0, 0})}), "coefficients: expected a multiple of 2");
}

TEST_CASE("SVMClassifier_PairsVote") {
  // Vectors 1 and −1 of one class each; score = x − (−x)… = 2x with coefficients 1 and −1.
  const OneNode node =
      ml("SVMClassifier", {floats({2, 1}, {3, -3})},
         {text("kernel_type", "LINEAR"), reals("support_vectors", {1, -1}), reals("coefficients", {1, -1}),
          reals("rho", {0.5F}), ints("vectors_per_class", {1, 1}), ints("classlabels_ints", {5, 6})},
         2);
  const auto results = node.run();
  CHECK(as_doubles(results[0]) == Numbers{5, 6});
  CHECK(as_doubles(results[1]) == Numbers{-6.5, 6.5, 5.5, -5.5});
  refused(with(node, {reals("rho", {})}), "rho: expected 1 values");
  refused(with(node, {ints("vectors_per_class", {1, -1})}), "vectors_per_class: value 1 is -1");
  refused(with(node, {reals("support_vectors", {1, 2, 3})}), "support_vectors: expected a multiple of 2");
}

// Every pair of classes has the coefficients of its own: the vectors of i in row j − 1, those of j in row i.
TEST_CASE("SVMClassifier_ThreeClasses_EachPairHasItsRows") {
  const OneNode node =
      ml("SVMClassifier", {floats({1, 1}, {1})},
         {text("kernel_type", "LINEAR"), reals("support_vectors", {1, 1, 1}),
          reals("coefficients", {1, -16, 4, -64, 256, -1024}), reals("rho", {0.5F, 0.25F, 2}),
          ints("vectors_per_class", {1, 1, 1}), ints("classlabels_ints", {5, 6, 9})},
         2);
  const auto results = node.run();
  // (0, 1): 1 − 16; (0, 2): −64 + 4; (1, 2): 256 − 1024. Votes for the classes: 0, 1, 2.
  CHECK(as_doubles(results[1]) == Numbers{-14.5, -59.75, -766});
  CHECK(as_doubles(results[0]) == Numbers{9});
}

// Where the iteration of the probabilities ends depends on its limit, not on the last bit of the scores.
TEST_CASE("SVMClassifier_Probabilities_SumToOneAndAreBounded") {
  const OneNode node =
      ml("SVMClassifier", {floats({1, 1}, {1})},
         {text("kernel_type", "LINEAR"), reals("support_vectors", {1, 1, 1}),
          reals("coefficients", {1, -0.5F, 0.25F, -0.75F, 0.5F, -1}), reals("rho", {0.5F, 0.25F, 0.125F}),
          reals("prob_a", {-1, -1.5F, -2}), reals("prob_b", {0.25F, 0, -0.5F}),
          ints("vectors_per_class", {1, 1, 1}), ints("classlabels_ints", {5, 6, 9})},
         2);
  ThreadPool threads(1);
  const Graph graph = node.graph();
  const auto values = run_graph<Bounded>(graph, node.named(), threads);
  REQUIRE(values.ok());
  const auto& p = (*values)[graph.outputs[1]].real;
  REQUIRE(p.size() == 3);
  CHECK(p[0].value + p[1].value + p[2].value == doctest::Approx(1.0));
  for (const Bounded& one : p) CHECK(one.worst < 1e-4);
}

TEST_CASE("TreeEnsemble_NodesThatManyPathsShare_AreBoundedInTime") {
  constexpr int levels = 80;  // 2^80 paths
  std::vector<std::int64_t> features(levels, 0), next, leaf(levels, 0);
  for (int i = 0; i < levels; ++i) next.push_back(i + 1 < levels ? i + 1 : 0);
  leaf.back() = 1;
  ModelBuilder builder;
  builder.opset(21)
      .opset("ai.onnx.ml", 5)
      .input("x", DType::float32, {1, 1})
      .input("one", DType::float32, {1});
  std::vector<std::uint8_t> modes(levels, 0);
  builder.node("Add", {"x", "one"}, {"y"})
      .node("TreeEnsemble", {"y"}, {"z"},
            {ints("nodes_featureids", features),
             tensor_attribute("nodes_modes", tensor<std::uint8_t>({levels}, modes)),
             tensor_attribute("nodes_splits", floats({levels}, std::vector<float>(levels, 1.1F))),
             ints("nodes_truenodeids", next), ints("nodes_falsenodeids", next), ints("nodes_trueleafs", leaf),
             ints("nodes_falseleafs", leaf), ints("tree_roots", {0}), ints("leaf_targetids", {0}),
             tensor_attribute("leaf_weights", floats({1}, {3}))},
            "ai.onnx.ml")
      .output("z");
  ThreadPool threads(1);
  const Graph graph = built(builder);
  const std::vector<NamedTensor> given = {{"x", floats({1, 1}, {0.1F})}, {"one", floats({1}, {1})}};
  const auto values = run_graph<Bounded>(graph, given, threads);
  REQUIRE_MESSAGE(values.ok(), values.error().message);
  CHECK((*values)[graph.outputs[0]].real[0].value == 3.0);
}

TEST_CASE("FeatureOperators_ClosedForms") {
  const Tensor x = floats({2, 2}, {3, 4, 0, 0});
  CHECK(ml("Normalizer", {x}, {text("norm", "L1")}).strict_numbers()[0] == doctest::Approx(3.0 / 7));
  CHECK(ml("Normalizer", {x}, {text("norm", "MAX")}).numbers() == Numbers{0.75, 1, 0, 0});
  CHECK(ml("Scaler", {x}, {reals("offset", {1, 2}), reals("scale", {2, 0.5F})}).numbers() ==
        Numbers{4, 1, -2, -1});
  CHECK(ml("Binarizer", {x}, {real("threshold", 3)}).numbers() == Numbers{0, 1, 0, 0});
  CHECK(ml("Imputer", {x}, {reals("imputed_value_floats", {9}), real("replaced_value_float", 0)}).numbers() ==
        Numbers{3, 4, 9, 9});
  CHECK(ml("OneHotEncoder", {longs({4, 9})}, {ints("cats_int64s", {9, 4})}).numbers() == Numbers{0, 1, 1, 0});
  // Neighbours that are one float.
  CHECK(ml("OneHotEncoder", {longs({16777217})}, {ints("cats_int64s", {16777216, 16777217})}).numbers() ==
        Numbers{0, 1});
  CHECK(ml("ArrayFeatureExtractor", {x, longs({1})}, {}).numbers() == Numbers{4, 0});
  CHECK(ml("FeatureVectorizer", {x, floats({2, 1}, {7, 8})}, {ints("inputdimensions", {1, 2})}).numbers() ==
        Numbers{3, 7, 0, 0, 8, 0});
  refused(ml("Scaler", {x}, {reals("offset", {1, 2, 3})}), "offset: expected 1 value or 2 (features), got 3");
}

}  // namespace driftscope::test::ml_test
