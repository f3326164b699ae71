// Every rule beside central differences in double; attributes that are drawn print their seed.
#include <doctest/doctest.h>

#include "core/base/rng.hpp"
#include "unit/gradient/gradient_case.hpp"
#include "unit/support/seed.hpp"

namespace driftscope::test {
namespace {

using Int64s = std::vector<std::int64_t>;

NamedTensor vector_constant(const std::string& name, const Int64s& values) {
  return {name, tensor<std::int64_t>({std::ssize(values)}, values)};
}

}  // namespace

TEST_CASE("GradientRules_Functions_AreDerivatives") {
  const std::uint64_t seed = test_seed(1);
  for (const char* op : {"Relu",    "LeakyRelu",   "Elu",       "Celu", "Selu",     "ThresholdedRelu",
                         "Sigmoid", "HardSigmoid", "HardSwish", "Tanh", "Softplus", "Softsign",
                         "Erf",     "Exp",         "Neg",       "Abs",  "Sin",      "Cos",
                         "Tan",     "Asin",        "Acos",      "Atan", "Sinh",     "Cosh",
                         "Asinh",   "Atanh",       "Mish"})
    check_gradient({.op = op, .inputs = {{2, 7}}, .opset = 18, .low = -0.9, .high = 0.9, .open_batch = true},
                   seed);
  for (const char* op : {"Log", "Sqrt", "Reciprocal"})
    check_gradient({.op = op, .inputs = {{2, 7}}, .low = 0.5, .high = 3.0}, seed);
  check_gradient({.op = "Acosh", .inputs = {{6}}, .low = 1.5, .high = 3.0}, seed);
  for (const char* approximate : {"none", "tanh"})
    check_gradient({.op = "Gelu",
                    .inputs = {{9}},
                    .attributes = {text("approximate", approximate)},
                    .opset = 20,
                    .low = -3.0,
                    .high = 3.0},
                   seed);
  check_gradient({.op = "Clip",
                  .inputs = {{20}},
                  .constants = {{"lo", tensor<double>({}, {-0.4})}, {"hi", tensor<double>({}, {0.5})}}},
                 seed);
}

TEST_CASE("GradientRules_Broadcasts_SumToTheShape") {
  const std::uint64_t seed = test_seed(2);
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Sum", "Mean"}) {
    for (const std::vector<Shape>& shapes : {std::vector<Shape>{{2, 3, 4}, {2, 3, 4}},
                                             {{2, 3, 4}, {4}},
                                             {{3, 1}, {2, 3, 4}},
                                             {{2, 1, 4}, {1, 3, 1}},
                                             {{}, {3}}})
      check_gradient({.op = op, .inputs = shapes, .low = 0.5, .high = 2.0}, seed);
  }
  check_gradient({.op = "Max", .inputs = {{4}, {3, 4}, {1}}}, seed);
  check_gradient({.op = "PRelu", .inputs = {{2, 3, 4}, {3, 1}}}, seed);
  check_gradient({.op = "Add", .inputs = {{2, 3}, {3}}, .open_batch = true}, seed);
  auto bools = Tensor::make(DType::boolean, {2, 1});
  REQUIRE(bools.ok());
  bools->mutable_values<std::uint8_t>()[0] = 1;
  check_gradient(
      {.op = "Where", .inputs = {{2, 3}, {3}}, .constants = {{"c", *bools}}, .names = {"c", "i0", "i1"}},
      seed);
}

TEST_CASE("GradientRules_Products_AreTransposedProducts") {
  const std::uint64_t seed = test_seed(3);
  for (const std::vector<Shape>& shapes : {std::vector<Shape>{{2, 3}, {3, 4}},
                                           {{3}, {3}},
                                           {{3}, {3, 4}},
                                           {{2, 3}, {3}},
                                           {{5, 2, 3}, {3, 4}},
                                           {{2, 1, 2, 3}, {4, 3, 2}},
                                           {{2, 3}, {5, 3, 4}},
                                           {{4, 2, 3}, {3}},
                                           {{3}, {4, 3, 2}}})
    check_gradient({.op = "MatMul", .inputs = shapes}, seed);
  check_gradient({.op = "MatMul", .inputs = {{5, 2, 3}, {3, 4}}, .open_batch = true}, seed);
  for (const int a : {0, 1})
    for (const int b : {0, 1})
      for (const Shape& c : {Shape{5}, Shape{2, 1}, Shape{2, 5}, Shape{}})
        check_gradient({.op = "Gemm",
                        .inputs = {a != 0 ? Shape{3, 2} : Shape{2, 3}, b != 0 ? Shape{5, 3} : Shape{3, 5}, c},
                        .attributes = {integer("transA", a), integer("transB", b), real("alpha", 0.5f),
                                       real("beta", 2.0f)}},
                       seed);
}

TEST_CASE("GradientRules_Conv_OfDrawnAttributes") {
  const std::uint64_t seed = test_seed(4);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto draw = [&](int n) {
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(n)));
  };
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    const bool transposed = round % 2 == 1;
    const std::int64_t groups = 1 + draw(3);
    const std::size_t n = 1 + static_cast<std::size_t>(draw(2));
    Shape x = {2, groups * (1 + draw(2))}, w;
    w = transposed ? Shape{x[1], 1 + draw(2)} : Shape{groups * (1 + draw(2)), x[1] / groups};
    Int64s strides, dilations, begins, ends, kernel, extra;
    for (std::size_t i = 0; i < n; ++i) {
      kernel.push_back(1 + draw(3));
      strides.push_back(1 + draw(3));
      dilations.push_back(1 + draw(2));
      begins.push_back(draw(2));
      ends.push_back(draw(3));
      x.push_back(6 + draw(3));
      w.push_back(kernel.back());
      extra.push_back(strides.back() > 1 ? draw(2) : 0);
    }
    std::vector<Attribute> attributes = {ints("strides", strides), integer("group", groups)};
    const int padding = static_cast<int>(draw(3));
    if (padding == 0 || transposed) {
      begins.insert(begins.end(), ends.begin(), ends.end());
      attributes.push_back(ints("pads", begins));
      attributes.push_back(ints("dilations", dilations));
      if (transposed) attributes.push_back(ints("output_padding", extra));
    } else {
      attributes.push_back(text("auto_pad", padding == 1 ? "SAME_UPPER" : "SAME_LOWER"));
    }
    check_gradient({.op = transposed ? "ConvTranspose" : "Conv",
                    .inputs = {x, w, {transposed ? w[1] * groups : w[0]}},
                    .attributes = attributes,
                    .open_batch = groups == 1},
                   seed + static_cast<std::uint64_t>(round));
  }
}

TEST_CASE("GradientRules_Pools_OfDrawnAttributes") {
  const std::uint64_t seed = test_seed(5);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto draw = [&](int n) {
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(n)));
  };
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    const bool average = round % 2 == 1;
    const std::size_t n = 1 + static_cast<std::size_t>(draw(2));
    Shape x = {2, 1 + draw(3)};
    Int64s kernel, strides, begins, ends, dilations;
    const bool touching = draw(3) == 0;
    for (std::size_t i = 0; i < n; ++i) {
      kernel.push_back(2 + draw(2));
      strides.push_back(touching ? kernel.back() : 1 + draw(3));
      begins.push_back(touching ? 0 : draw(2));
      ends.push_back(touching ? 0 : draw(2));
      dilations.push_back(touching ? 1 : 1 + draw(2));
      x.push_back(6 + draw(4));
    }
    begins.insert(begins.end(), ends.begin(), ends.end());
    std::vector<Attribute> attributes = {ints("kernel_shape", kernel), ints("strides", strides),
                                         ints("pads", begins), integer("ceil_mode", draw(2))};
    if (average)
      attributes.push_back(integer("count_include_pad", draw(2)));
    else
      attributes.push_back(ints("dilations", dilations));
    check_gradient({.op = average ? "AveragePool" : "MaxPool",
                    .inputs = {x},
                    .attributes = attributes,
                    .open_batch = true},
                   seed + static_cast<std::uint64_t>(round));
  }
  for (const char* op : {"GlobalMaxPool", "GlobalAveragePool"})
    check_gradient({.op = op, .inputs = {{2, 3, 4, 5}}, .open_batch = true}, seed);
}

TEST_CASE("GradientRules_Reductions_SpreadBack") {
  const std::uint64_t seed = test_seed(6);
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare", "ReduceL1",
                         "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"})
    for (const int keep : {0, 1})
      for (const Int64s& axes : {Int64s{1}, Int64s{0, -1}, Int64s{}}) {
        DifferentiatedNode node{.op = op,
                                .inputs = {{2, 3, 4}},
                                .attributes = {integer("keepdims", keep)},
                                .low = 0.5,
                                .high = 2.0};
        if (!axes.empty() && node.op == "ReduceSum") node.constants = {vector_constant("axes", axes)};
        if (!axes.empty() && node.op != "ReduceSum") node.attributes.push_back(ints("axes", axes));
        check_gradient(node, seed);
      }
  check_gradient(
      {.op = "ReduceMean", .inputs = {{2, 3}}, .attributes = {ints("axes", {0})}, .open_batch = true}, seed);
}

TEST_CASE("GradientRules_Normalizations") {
  const std::uint64_t seed = test_seed(7);
  for (const std::int64_t opset : {11, 13})
    for (const int axis : {0, 1, 2})
      for (const char* op : {"Softmax", "LogSoftmax"})
        check_gradient(
            {.op = op, .inputs = {{2, 3, 4}}, .attributes = {integer("axis", axis)}, .opset = opset}, seed);
  check_gradient({.op = "BatchNormalization",
                  .inputs = {{2, 3, 4, 2}, {3}, {3}},
                  .constants = {{"mean", tensor<double>({3}, {0.1, -0.2, 0.3})},
                                {"var", tensor<double>({3}, {0.5, 1.5, 2.5})}}},
                 seed);
  for (const int axis : {1, -1})
    check_gradient({.op = "LayerNormalization",
                    .inputs = {{2, 3, 4}, axis == 1 ? Shape{3, 4} : Shape{4}, {4}},
                    .attributes = {integer("axis", axis)}},
                   seed);
  check_gradient({.op = "InstanceNormalization", .inputs = {{2, 3, 4}, {3}, {3}}}, seed);
}

TEST_CASE("GradientRules_ShapesAndParts_GoBackToTheirPlaces") {
  const std::uint64_t seed = test_seed(8);
  check_gradient({.op = "Reshape",
                  .inputs = {{2, 6}},
                  .constants = {vector_constant("s", {-1, 3, 2})},
                  .open_batch = true},
                 seed);
  check_gradient({.op = "Transpose", .inputs = {{2, 3, 4}}, .attributes = {ints("perm", {1, 2, 0})}}, seed);
  check_gradient({.op = "Transpose", .inputs = {{2, 3}}}, seed);
  check_gradient({.op = "Flatten", .inputs = {{2, 3, 4}}}, seed);
  check_gradient({.op = "Unsqueeze", .inputs = {{2, 3}}, .constants = {vector_constant("a", {1})}}, seed);
  check_gradient({.op = "Squeeze", .inputs = {{2, 1, 3}}, .constants = {vector_constant("a", {1})}}, seed);
  check_gradient({.op = "Identity", .inputs = {{3}}}, seed);
  check_gradient({.op = "Concat",
                  .inputs = {{2, 3}, {2, 1}, {2, 4}},
                  .attributes = {integer("axis", -1)},
                  .open_batch = true},
                 seed);
  check_gradient(
      {.op = "Split", .inputs = {{5, 2}}, .constants = {vector_constant("s", {2, 3})}, .outputs = {"y", "z"}},
      seed);
  check_gradient({.op = "Split", .inputs = {{6}}, .outputs = {"y", "", "z"}}, seed);
  check_gradient({.op = "Expand", .inputs = {{3, 1}}, .constants = {vector_constant("s", {2, 3, 4})}}, seed);
  for (const Int64s& range : {Int64s{1, 4, 1}, {-3, 9, 1}, {0, 7, 2}, {1, 7, 3}, {6, 0, -2}, {-1, -9, -1}})
    check_gradient({.op = "Slice",
                    .inputs = {{2, 7}},
                    .constants = {vector_constant("b", {range[0]}), vector_constant("e", {range[1]}),
                                  vector_constant("a", {1}), vector_constant("s", {range[2]})},
                    .open_batch = true},
                   seed);
  for (const char* mode : {"constant", "reflect", "edge"})
    check_gradient({.op = "Pad",
                    .inputs = {{3, 5}},
                    .attributes = {text("mode", mode)},
                    .constants = {vector_constant("p", {0, 2, 0, 1})},
                    .open_batch = true},
                   seed);
  check_gradient({.op = "Pad", .inputs = {{5}}, .constants = {vector_constant("p", {-1, 2})}}, seed);
  check_gradient({.op = "Gather",
                  .inputs = {{3, 4, 2}},
                  .attributes = {integer("axis", 1)},
                  .constants = {{"i", tensor<std::int64_t>({2, 2}, {3, 0, -1, 3})}}},
                 seed);
  check_gradient({.op = "Gather", .inputs = {{5, 2}}, .constants = {{"i", tensor<std::int64_t>({}, {-2})}}},
                 seed);
}

TEST_CASE("GradientRules_Resize_IsItsTransposedMatrix") {
  const std::uint64_t seed = test_seed(9);
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* where : {"half_pixel", "align_corners", "asymmetric"}) {
      DifferentiatedNode node{
          .op = "Resize",
          .inputs = {{1, 2, 4, 3}},
          .attributes = {text("mode", mode), text("coordinate_transformation_mode", where)},
          .constants = {{"scales", tensor<float>({4}, {1, 1, 2, 1.5f})}},
          .names = {"i0", "", "scales"}};
      check_gradient(node, seed);
      node.constants = {vector_constant("sizes", {1, 2, 3, 7})};
      node.names = {"i0", "", "", "sizes"};
      check_gradient(node, seed);
    }
}

TEST_CASE("GradientRules_Recurrent_AllWeightsAndStates" * doctest::test_suite("large")) {
  const std::uint64_t seed = test_seed(10);
  constexpr std::int64_t steps = 4, batch = 2, width = 3, hidden = 2;
  for (const std::string direction : {"forward", "reverse", "bidirectional"}) {
    const std::int64_t d = direction == "bidirectional" ? 2 : 1;
    const auto inputs = [&](std::int64_t gates, bool cell) {
      std::vector<Shape> shapes = {{steps, batch, width},
                                   {d, gates * hidden, width},
                                   {d, gates * hidden, hidden},
                                   {d, 2 * gates * hidden},
                                   {d, batch, hidden}};
      if (cell) shapes.push_back({d, batch, hidden});
      return shapes;
    };
    const std::vector<std::string> names = {"i0", "i1", "i2", "i3", "", "i4"};
    const std::vector<Attribute> attributes = {integer("hidden_size", hidden), text("direction", direction)};
    for (const std::vector<std::string>& outputs : {std::vector<std::string>{"y"}, {"", "y"}, {"y", "z"}}) {
      check_gradient({.op = "RNN",
                      .inputs = inputs(1, false),
                      .attributes = attributes,
                      .names = names,
                      .outputs = outputs},
                     seed);
      for (const int reset_after : {0, 1}) {
        auto with = attributes;
        with.push_back(integer("linear_before_reset", reset_after));
        check_gradient(
            {.op = "GRU", .inputs = inputs(3, false), .attributes = with, .names = names, .outputs = outputs},
            seed);
      }
      auto cell_names = names;
      cell_names.push_back("i5");
      check_gradient({.op = "LSTM",
                      .inputs = inputs(4, true),
                      .attributes = attributes,
                      .names = cell_names,
                      .outputs = outputs},
                     seed);
    }
    auto cell_names = names;
    cell_names.push_back("i5");
    check_gradient({.op = "LSTM",
                    .inputs = inputs(4, true),
                    .attributes = attributes,
                    .names = cell_names,
                    .outputs = {"", "", "y"}},
                   seed);
  }
}

TEST_CASE("GradientRules_Indexed_AddBackWhatWasRead") {
  const std::uint64_t seed = test_seed(21);
  const auto indices = [](const Shape& shape, const Int64s& values) {
    return NamedTensor{"at", tensor<std::int64_t>(shape, values)};
  };
  check_gradient({.op = "GatherElements",
                  .inputs = {{3, 4}},
                  .attributes = {integer("axis", 1)},
                  .constants = {indices({2, 3}, {0, 0, 3, -1, 2, 2})}},
                 seed);
  check_gradient(
      {.op = "GatherND", .inputs = {{3, 4, 2}}, .constants = {indices({3, 2}, {0, 1, 2, -1, 0, 1})}}, seed);
  for (const int add : {0, 1}) {
    const std::vector<Attribute> reduction = {text("reduction", add != 0 ? "add" : "none")};
    check_gradient({.op = "ScatterElements",
                    .inputs = {{3, 4}, {2, 2}},
                    .attributes = {integer("axis", 1), reduction[0]},
                    .constants = {indices({2, 2}, {3, 1, 0, -2})},
                    .names = {"i0", "at", "i1"}},
                   seed);
    check_gradient({.op = "ScatterND",
                    .inputs = {{4, 3}, {2, 3}},
                    .attributes = reduction,
                    .constants = {indices({2, 1}, {2, 0})},
                    .names = {"i0", "at", "i1"}},
                   seed);
  }
  check_gradient(
      {.op = "TopK", .inputs = {{3, 5}}, .constants = {vector_constant("k", {2})}, .outputs = {"y", ""}},
      seed);
}

TEST_CASE("GradientRules_Rearranging_IsUndone") {
  const std::uint64_t seed = test_seed(22);
  check_gradient({.op = "Tile", .inputs = {{2, 3, 2}}, .constants = {vector_constant("r", {1, 2, 3})}}, seed);
  check_gradient(
      {.op = "Tile", .inputs = {{2, 3}}, .constants = {vector_constant("r", {1, 2})}, .open_batch = true},
      seed);
  for (const int exclusive : {0, 1})
    for (const int reverse : {0, 1})
      check_gradient({.op = "CumSum",
                      .inputs = {{2, 5}},
                      .attributes = {integer("exclusive", exclusive), integer("reverse", reverse)},
                      .constants = {{"axis", tensor<std::int64_t>({}, {1})}}},
                     seed);
  for (const char* mode : {"DCR", "CRD"})
    check_gradient({.op = "DepthToSpace",
                    .inputs = {{2, 8, 2, 3}},
                    .attributes = {integer("blocksize", 2), text("mode", mode)},
                    .open_batch = true},
                   seed);
  check_gradient({.op = "SpaceToDepth", .inputs = {{1, 2, 4, 6}}, .attributes = {integer("blocksize", 2)}},
                 seed);
  check_gradient({.op = "Trilu", .inputs = {{3, 4}}, .attributes = {integer("upper", 0)}}, seed);
  check_gradient({.op = "ReverseSequence",
                  .inputs = {{4, 3}},
                  .attributes = {integer("time_axis", 0), integer("batch_axis", 1)},
                  .constants = {vector_constant("lengths", {4, 2, 1})}},
                 seed);
}

TEST_CASE("GradientRules_Einsum_SwapsOperandsAndOutput") {
  const std::uint64_t seed = test_seed(23);
  const auto check = [&](const char* equation, const std::vector<Shape>& shapes) {
    INFO(equation);
    check_gradient({.op = "Einsum", .inputs = shapes, .attributes = {text("equation", equation)}}, seed);
  };
  check("ij,jk->ik", {{2, 3}, {3, 4}});
  check("bhid, bhjd -> bhij", {{2, 2, 3, 4}, {2, 2, 5, 4}});
  check("ij->j", {{2, 3}});
  check("ij,kj", {{2, 3}, {4, 3}});
  check("...ij,...jk->...ik", {{2, 3, 4}, {2, 4, 5}});
  check("i,i->", {{4}, {4}});
  check("ab,bc,cd->ad", {{2, 3}, {3, 2}, {2, 4}});
}

TEST_CASE("GradientRules_MoreNormalizations") {
  const std::uint64_t seed = test_seed(24);
  for (const std::int64_t opset : {18, 21})
    check_gradient({.op = "GroupNormalization",
                    .inputs = {{2, 4, 3, 2}, {opset < 21 ? 2 : 4}, {opset < 21 ? 2 : 4}},
                    .attributes = {integer("num_groups", 2)},
                    .opset = opset},
                   seed);
  check_gradient({.op = "MeanVarianceNormalization", .inputs = {{2, 3, 2, 3}}}, seed);
  for (const int p : {1, 2})
    check_gradient({.op = "LpNormalization",
                    .inputs = {{3, 4}},
                    .attributes = {integer("p", p), integer("axis", 0)},
                    .low = 0.2},
                   seed);
  for (const int size : {3, 4})
    check_gradient({.op = "LRN",
                    .inputs = {{2, 6, 2, 2}},
                    .attributes = {integer("size", size), real("alpha", 0.5f), real("beta", 0.6f)}},
                   seed);
}

}  // namespace driftscope::test
