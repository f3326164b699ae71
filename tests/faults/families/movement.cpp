// Moving elements: Resize, Gather, Transpose, Pad, Slice, Concat and their like.
#include <fmt/format.h>

#include "tests/faults/network.hpp"

namespace driftscope::faults::movement {
namespace {

MakeNetwork resize(DType dtype, std::vector<Attribute> attributes, std::vector<float> scales = {1, 1, 2, 2},
                   Shape x = {1, 3, 7, 9}) {
  return [=](Rng& rng) {
    return network_of({.op = "Resize",
                       .inputs = {normal(rng, x)},
                       .constants = {tensor<float>({static_cast<std::int64_t>(scales.size())}, scales)},
                       .attributes = attributes,
                       .dtype = dtype,
                       .omitted = {1}});
  };
}

MakeNetwork plain(const std::string& op, Shape x, std::vector<Tensor> constants,
                  std::vector<Attribute> attributes = {}) {
  return [=](Rng& rng) {
    return network_of(
        {.op = op, .inputs = {normal(rng, x)}, .constants = constants, .attributes = attributes});
  };
}

Tensor list(std::vector<std::int64_t> values) {
  return tensor<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace

void add_to(FaultTable& table) {
  const std::string family = "movement";
  const auto add = [&](const std::string& name, MakeNetwork network, Fault fault) {
    table.add(family, name, std::move(network), std::move(fault));
  };
  const auto mode = [](const char* name, const char* where) {
    return std::vector<Attribute>{text("mode", name), text("coordinate_transformation_mode", where)};
  };
  for (const DType dtype : {DType::float32, DType::float16}) {
    const std::string of = dtype == DType::float32 ? "" : ", float16";
    add("Resize linear" + of + ": asymmetric for half_pixel", resize(dtype, mode("linear", "half_pixel")),
        attribute(text("coordinate_transformation_mode", "asymmetric")));
    add("Resize linear" + of + ": align_corners for half_pixel", resize(dtype, mode("linear", "half_pixel")),
        attribute(text("coordinate_transformation_mode", "align_corners")));
    add("Resize linear" + of + ": nearest instead", resize(dtype, mode("linear", "half_pixel")),
        attribute(text("mode", "nearest")));
    add("Resize linear" + of + ": last row not written", resize(dtype, mode("linear", "half_pixel")),
        output(zero_from(2, 1)));
    add("Resize cubic" + of + ": coefficient −0.5 for −0.75", resize(dtype, mode("cubic", "half_pixel")),
        attribute(real("cubic_coeff_a", -0.5f)));
    add("Resize cubic" + of + ": linear instead", resize(dtype, mode("cubic", "half_pixel")),
        attribute(text("mode", "linear")));
  }
  add("Resize nearest: floor for round_prefer_floor",
      resize(DType::float32, mode("nearest", "half_pixel"), {1, 1, 1.7f, 1.7f}),
      attribute(text("nearest_mode", "floor")));
  add("Resize nearest: ceil for round_prefer_floor",
      resize(DType::float32, mode("nearest", "half_pixel"), {1, 1, 1.7f, 1.7f}),
      attribute(text("nearest_mode", "ceil")));
  add(
      "Resize linear: antialias ignored",
      [](Rng& rng) {
        return network_of({.op = "Resize",
                           .inputs = {normal(rng, {1, 2, 12, 12})},
                           .constants = {tensor<float>({4}, {1, 1, 0.5f, 0.5f})},
                           .attributes = {text("mode", "linear"), integer("antialias", 1)},
                           .omitted = {1}});
      },
      no_attribute("antialias"));
  add("Transpose: other axes", plain("Transpose", {4, 4, 4}, {}, {ints("perm", {2, 0, 1})}),
      attribute(ints("perm", {1, 2, 0})));
  add("Transpose: not moved", plain("Transpose", {6, 6}, {}, {ints("perm", {1, 0})}), as_op("Identity"));
  add("Gather: index one further", plain("Gather", {8, 5}, {list({1, 3, 5, 2})}, {}),
      input(1, each_number([](double x, std::int64_t) { return x + 1.0; })));
  add("Gather: along another axis", plain("Gather", {6, 6}, {list({1, 3, 5, 2, 0, 4})}, {integer("axis", 0)}),
      attribute(integer("axis", 1)));
  add("Gather: negative index taken as 0", plain("Gather", {8, 5}, {list({-1, -3, 2})}, {}),
      input(1, each_number([](double x, std::int64_t) { return std::fmax(x, 0.0); })));
  add("GatherND: coordinates exchanged",
      plain("GatherND", {6, 6}, {tensor<std::int64_t>({3, 2}, {1, 2, 3, 4, 5, 0})}),
      input(1, ends_exchanged(1)));
  add(
      "ScatterElements: added for written",
      [](Rng& rng) {
        return network_of({.op = "ScatterElements",
                           .inputs = {normal(rng, {4, 6})},
                           .constants = {integers<std::int64_t>(rng, {2, 6}, 0, 0), normal(rng, {2, 6})},
                           .attributes = {integer("axis", 0), text("reduction", "add")}});
      },
      attribute(text("reduction", "max")));
  add(
      "ScatterElements: last index not written",
      [](Rng& rng) {
        return network_of(
            {.op = "ScatterElements",
             .inputs = {normal(rng, {4, 6})},
             .constants = {tensor<std::int64_t>({1, 6}, {0, 1, 2, 3, 0, 1}), normal(rng, {1, 6})},
             .attributes = {integer("axis", 0)}});
      },
      [](const NodeRun& run) -> Result<Tensors> {
        DRIFTSCOPE_TRY(Tensors outputs, run_strict(run));
        const float before = run.inputs[0].values<float>()[6 + 5];
        outputs[0] = element(6 + 5, static_cast<double>(before))(outputs[0]);
        return outputs;
      });
  add(
      "Concat: order exchanged",
      [](Rng& rng) {
        return network_of({.op = "Concat",
                           .inputs = {normal(rng, {3, 4})},
                           .constants = {normal(rng, {3, 4})},
                           .attributes = {integer("axis", 1)}});
      },
      swapped(0, 1));
  add(
      "Concat: second part stale",
      [](Rng& rng) {
        return network_of({.op = "Concat",
                           .inputs = {normal(rng, {3, 4})},
                           .constants = {normal(rng, {3, 4})},
                           .attributes = {integer("axis", 1)}});
      },
      input(1, rolled(0)));
  add("Slice: one later", plain("Slice", {12, 5}, {list({2}), list({8}), list({0})}), [](const NodeRun& run) {
    NodeRun other = run;
    other.inputs[1] = tensor<std::int64_t>({1}, {3});
    other.inputs[2] = tensor<std::int64_t>({1}, {9});
    return run_strict(other);
  });
  add("Slice: step ignored at equal size",
      plain("Slice", {12, 5}, {list({0}), list({12}), list({0}), list({2})}), [](const NodeRun& run) {
        NodeRun other = run;
        other.inputs[2] = tensor<std::int64_t>({1}, {6});
        other.inputs[4] = tensor<std::int64_t>({1}, {1});
        return run_strict(other);
      });
  add("Pad reflect: edge instead", plain("Pad", {5, 7}, {list({2, 2, 2, 2})}, {text("mode", "reflect")}),
      attribute(text("mode", "edge")));
  add(
      "Pad constant: value ignored",
      [](Rng& rng) {
        return network_of({.op = "Pad",
                           .inputs = {normal(rng, {5, 7})},
                           .constants = {list({1, 1, 1, 1}), tensor<float>({}, {2.5f})}});
      },
      input(2, each([](double, std::int64_t) { return 0.0; })));
  add("Tile: repeated element by element", plain("Tile", {4}, {list({3})}), output([](const Tensor& y) {
        std::vector<float> values;
        for (std::size_t i = 0; i < 12; ++i) values.push_back(y.values<float>()[i / 3]);
        return tensor<float>({12}, values);
      }));
  add("DepthToSpace: CRD for DCR",
      plain("DepthToSpace", {1, 12, 3, 3}, {}, {integer("blocksize", 2), text("mode", "DCR")}),
      attribute(text("mode", "CRD")));
  add("SpaceToDepth: channels rolled", plain("SpaceToDepth", {1, 3, 4, 4}, {}, {integer("blocksize", 2)}),
      output(rolled(1)));
  add("Expand: of the wrong axis", plain("Expand", {4, 1}, {list({4, 4})}), output(transposed_in_place()));
  add("Reshape: transposed on the way", plain("Reshape", {4, 6}, {list({6, 4})}),
      output([](const Tensor& y) { return *transposed_in_place()(*y.reshaped({4, 6})).reshaped({6, 4}); }));
  add(
      "Trilu: diagonal one further",
      [](Rng& rng) {
        return network_of(
            {.op = "Trilu", .inputs = {normal(rng, {6, 6})}, .constants = {tensor<std::int64_t>({}, {0})}});
      },
      input(1, each_number([](double x, std::int64_t) { return x + 1.0; })));
  add(
      "GridSample: align_corners taken the other way",
      [](Rng& rng) {
        return network_of({.op = "GridSample",
                           .inputs = {normal(rng, {1, 2, 6, 6})},
                           .constants = {uniform(rng, {1, 5, 5, 2}, -0.9f, 0.9f)},
                           .attributes = {text("mode", "linear"), integer("align_corners", 0)}});
      },
      attribute(integer("align_corners", 1)));
  add(
      "OneHot: on and off exchanged",
      [](Rng& rng) {
        return network_of({.op = "OneHot",
                           .inputs = {integers<std::int64_t>(rng, {6}, 0, 4)},
                           .constants = {tensor<std::int64_t>({}, {5}), tensor<float>({2}, {0.0f, 1.0f})}});
      },
      input(2, rolled(0)));
}

}  // namespace driftscope::faults::movement
