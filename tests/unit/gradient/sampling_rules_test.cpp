// Rules of operators that sample between elements, and of products, determinants and norms, beside central
// differences in double.
#include <doctest/doctest.h>

#include "core/base/rng.hpp"
#include "unit/gradient/gradient_case.hpp"
#include "unit/support/seed.hpp"

namespace driftscope::test {
namespace {

using Sizes = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("GradientRules_ReduceProd_IsExactWithZeros") {
  const std::uint64_t seed = test_seed(31);
  for (const std::int64_t opset : {13, 18})
    for (const int keep : {0, 1})
      for (const Sizes& axes : {Sizes{1}, Sizes{0, -1}, Sizes{}}) {
        DifferentiatedNode node{.op = "ReduceProd",
                                .inputs = {{2, 3, 4}},
                                .attributes = {integer("keepdims", keep)},
                                .opset = opset,
                                .low = -2.0,
                                .high = 2.0};
        if (!axes.empty() && opset < 18) node.attributes.push_back(ints("axes", axes));
        if (!axes.empty() && opset >= 18)
          node.constants = {{"axes", tensor<std::int64_t>({std::ssize(axes)}, axes)}};
        check_gradient(node, seed);
      }
  // One zero leaves the product of the others to it; two leave nothing to anything.
  check_gradient({.op = "ReduceProd",
                  .inputs = {{4, 3}},
                  .attributes = {ints("axes", {1})},
                  .values = {{0, 2, 3, 0, 0, 4, 1, -2, 3, 0, 0, 0}}},
                 seed);
  for (const std::int64_t count : {1, 2, 5, 9})
    check_gradient({.op = "ReduceProd", .inputs = {{2, count}}, .attributes = {ints("axes", {1})}}, seed);
  check_gradient(
      {.op = "ReduceProd", .inputs = {{2, 3}}, .attributes = {ints("axes", {1})}, .open_batch = true}, seed);
}

TEST_CASE("GradientRules_OneHot_SumsWhereItsValuesStand") {
  const std::uint64_t seed = test_seed(32);
  const NamedTensor depth{"depth", tensor<std::int64_t>({}, {4})};
  const NamedTensor at{"at", tensor<std::int64_t>({2, 3}, {0, -1, 9, 2, 2, 3})};
  for (const int axis : {-1, 0, 1})
    check_gradient({.op = "OneHot",
                    .inputs = {{2}},
                    .attributes = {integer("axis", axis)},
                    .constants = {at, depth},
                    .names = {"at", "depth", "i0"}},
                   seed);
}

TEST_CASE("GradientRules_Det_IsTheCofactors") {
  const std::uint64_t seed = test_seed(33);
  for (const Shape& shape : {Shape{1, 1}, Shape{2, 2}, Shape{3, 4, 4}, Shape{2, 1, 3, 3}})
    check_gradient({.op = "Det", .inputs = {shape}}, seed);
  check_gradient({.op = "Det", .inputs = {{2, 3, 3}}, .open_batch = true}, seed);
  // Singular: of rank 2, of rank 1, and zeros.
  check_gradient({.op = "Det", .inputs = {{3, 3, 3}}, .values = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 2, 4,
                                                                  6, 3, 6, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0}}},
                 seed);
}

TEST_CASE("GradientRules_LpPool_OfDrawnAttributes") {
  const std::uint64_t seed = test_seed(34);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto draw = [&](int n) {
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(n)));
  };
  for (int round = 0; round < 24; ++round) {
    CAPTURE(round);
    Shape x = {2, 1 + draw(3)};
    Sizes kernel, strides, begins, ends, dilations;
    for (int axis = 0; axis < 1 + round % 2; ++axis) {
      kernel.push_back(2 + draw(2));
      strides.push_back(1 + draw(3));
      begins.push_back(draw(2));
      ends.push_back(draw(2));
      dilations.push_back(1 + draw(2));
      x.push_back(6 + draw(4));
    }
    begins.insert(begins.end(), ends.begin(), ends.end());
    check_gradient({.op = "LpPool",
                    .inputs = {x},
                    .attributes = {ints("kernel_shape", kernel), ints("strides", strides),
                                   ints("pads", begins), ints("dilations", dilations),
                                   integer("ceil_mode", draw(2)), integer("p", 1 + draw(4))},
                    .opset = 18,
                    .open_batch = true},
                   seed + static_cast<std::uint64_t>(round));
  }
  for (const int p : {1, 2, 3, 5})
    check_gradient({.op = "GlobalLpPool", .inputs = {{2, 3, 4, 5}}, .attributes = {integer("p", p)}}, seed);
}

TEST_CASE("GradientRules_Norms_HaveNoPartWhereAllIsZero") {
  // |x| has slopes −1 and 1 on both sides of 0, which the difference averages to 0.
  const std::uint64_t seed = test_seed(35);
  check_gradient({.op = "ReduceL2",
                  .inputs = {{2, 3}},
                  .attributes = {ints("axes", {1})},
                  .values = {{0, 0, 0, 3, 0, -4}}},
                 seed);
  for (const int p : {1, 2, 3})
    check_gradient({.op = "LpPool",
                    .inputs = {{1, 1, 8}},
                    .attributes = {ints("kernel_shape", {2}), ints("strides", {2}), integer("p", p)},
                    .values = {{0, 0, 3, 0, -1, 2, 0, -5}}},
                   seed);
}

TEST_CASE("GradientRules_RoiAlign_IsTheTransposedSampling") {
  const std::uint64_t seed = test_seed(36);
  // Inside, beyond the edges, far outside, without extent, turned round.
  const NamedTensor rois{
      "rois", tensor<double>({6, 4}, {0.3, 0.9, 4.2, 3.7, -2.5, -1.0, 2.0, 9.0, 40,  40,  50,   50,
                                      2.0, 2.0, 2.0, 2.0, 4.0,  3.0,  1.0, 1.0, 0.0, 0.0, 10.0, 8.0})};
  const NamedTensor batch{"batch", tensor<std::int64_t>({6}, {0, 1, 0, 1, 1, 0})};
  for (const char* where : {"half_pixel", "output_half_pixel"})
    for (const std::int64_t samples : {1, 2, 3})
      check_gradient({.op = "RoiAlign",
                      .inputs = {{2, 3, 5, 6}},
                      .attributes = {text("coordinate_transformation_mode", where),
                                     integer("sampling_ratio", samples), integer("output_height", 2),
                                     integer("output_width", 3), real("spatial_scale", 0.75f)},
                      .constants = {rois, batch}},
                     seed);
}

TEST_CASE("GradientRules_GridSample_GoesToNeighboursAndGrid") {
  const std::uint64_t seed = test_seed(37);
  for (const char* mode : {"bilinear", "nearest"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (const int align : {0, 1}) {
        INFO(mode << " " << padding << " " << align);
        check_gradient({.op = "GridSample",
                        .inputs = {{2, 3, 4, 5}, {2, 3, 6, 2}},
                        .attributes = {text("mode", mode), text("padding_mode", padding),
                                       integer("align_corners", align)},
                        .low = -2.6,
                        .high = 2.6,
                        .open_batch = true},
                       seed);
      }
  for (const char* padding : {"zeros", "reflection"}) {
    check_gradient({.op = "GridSample",
                    .inputs = {{2, 2, 3, 4, 2}, {2, 2, 1, 3, 3}},
                    .attributes = {text("mode", "linear"), text("padding_mode", padding)},
                    .opset = 20,
                    .low = -1.6,
                    .high = 1.6},
                   seed);
    check_gradient({.op = "GridSample",
                    .inputs = {{1, 2, 7}, {1, 9, 1}},
                    .attributes = {text("mode", "linear"), text("padding_mode", padding)},
                    .opset = 20,
                    .low = -1.6,
                    .high = 1.6},
                   seed);
  }
}

}  // namespace driftscope::test
