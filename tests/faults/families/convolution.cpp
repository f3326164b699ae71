// Convolutions: windows, groups, borders, tails, precision.
#include "tests/faults/network.hpp"

namespace driftscope::faults::convolution {
namespace {

MakeNetwork conv(DType dtype, std::vector<Attribute> attributes, Shape x = {1, 8, 12, 12},
                 Shape w = {16, 8, 3, 3}, bool bias = true) {
  return [=](Rng& rng) {
    Chain chain{.op = "Conv",
                .inputs = {normal(rng, x)},
                .constants = {normal(rng, w, 0.2f)},
                .attributes = attributes,
                .dtype = dtype};
    if (bias) chain.constants.push_back(normal(rng, {w[0]}));
    return network_of(chain);
  };
}

MakeNetwork transposed(DType dtype, std::vector<Attribute> attributes) {
  return [=](Rng& rng) {
    return network_of({.op = "ConvTranspose",
                       .inputs = {normal(rng, {1, 6, 7, 7})},
                       .constants = {normal(rng, {6, 5, 3, 3}, 0.3f), normal(rng, {5})},
                       .attributes = attributes,
                       .dtype = dtype});
  };
}

}  // namespace

void add_to(FaultTable& table) {
  const std::string family = "convolution";
  for (const DType dtype : {DType::float32, DType::float16}) {
    const std::string of = dtype == DType::float32 ? "Conv: " : "Conv, float16: ";
    const auto add = [&](const std::string& name, MakeNetwork network, Fault fault) {
      table.add(family, of + name, std::move(network), std::move(fault));
    };
    const std::vector<Attribute> padded = {ints("pads", {1, 1, 1, 1})};
    const auto plain = conv(dtype, padded);
    add("last output channel not written", plain, output(zero_from(1, 1)));
    add("last output channel repeats the one before", plain, output(last_repeated(1)));
    add("output channels rolled by one", plain, output(rolled(1)));
    add("first and last output channel exchanged", plain, output(ends_exchanged(1)));
    add("last row not written", plain, output(zero_from(2, 1)));
    add("last column repeats the one before", plain, output(last_repeated(3)));
    add("last input channel not added", plain, input(0, zero_from(1, 1)));
    add("bias left out", plain, without_input(2));
    add("bias of the channel beside", plain, input(2, rolled(0)));
    add("kernel mirrored in its columns", plain, input(1, ends_exchanged(3)));
    add("kernel transposed", plain, input(1, transposed_in_place()));
    add("weights of another output channel", plain, input(1, rolled(0)));
    add("inputs rounded to bfloat16", plain, inputs(rounded_to(7)));
    add("image shifted by one column", plain, input(0, rolled(3)));
    add("one element of the output stale", plain, output(element(77, 0.5)));
    add("pads 1,0,0,1 taken as 0,1,1,0", conv(dtype, {ints("pads", {1, 0, 0, 1})}),
        attribute(ints("pads", {0, 1, 1, 0})));
    add("strides 2,1 taken as 1,2",
        conv(dtype, {ints("strides", {2, 1}), ints("pads", {1, 1, 1, 1})}, {1, 8, 12, 12}),
        [](const NodeRun& run) -> Result<Tensors> {
          // The result with the wrong strides, in the shape of the right ones.
          DRIFTSCOPE_TRY(Tensors wrong, attribute(ints("strides", {1, 2}))(run));
          DRIFTSCOPE_TRY(const Tensors right, run_strict(run));
          DRIFTSCOPE_TRY(wrong[0], wrong[0].reshaped(right[0].shape()));
          return wrong;
        });
    add("dilation ignored at equal size",
        conv(dtype, {ints("dilations", {2, 2}), ints("pads", {2, 2, 2, 2})}), [](const NodeRun& run) {
          NodeRun other = run;
          other.node.attributes = {ints("pads", {1, 1, 1, 1})};
          return run_strict(other);
        });
    add("depthwise: channels rolled",
        conv(dtype, {ints("pads", {1, 1, 1, 1}), integer("group", 8)}, {1, 8, 9, 9}, {8, 1, 3, 3}),
        input(0, rolled(1)));
    add("groups: weights of the group beside", conv(dtype, {integer("group", 4)}, {1, 8, 9, 9}, {8, 2, 3, 3}),
        input(1, rolled(0)));
  }
  const auto deep = conv(DType::float32, {}, {1, 256, 6, 6}, {8, 256, 3, 3});
  table.add(family, "Conv: inputs rounded to TF32", deep, inputs(rounded_to(10)));
  table.add(family, "Conv: inputs rounded to float16", deep, inputs(through_float16()));
  table.add(family, "Conv: result rounded to float16", deep, output(through_float16()));
  table.add(family, "Conv: weights scaled by 1.001", deep, input(1, scaled(1.001)));
  table.add(family, "Conv 1×1: last input channel not added",
            conv(DType::float32, {}, {2, 33, 5, 5}, {7, 33, 1, 1}), input(0, zero_from(1, 1)));
  table.add(family, "Conv 1×1: samples exchanged", conv(DType::float32, {}, {2, 33, 5, 5}, {7, 33, 1, 1}),
            input(0, rolled(0)));
  for (const DType dtype : {DType::float32, DType::float16}) {
    const std::string of = dtype == DType::float32 ? "ConvTranspose: " : "ConvTranspose, float16: ";
    const auto plain = transposed(dtype, {ints("strides", {2, 2})});
    table.add(family, of + "kernel mirrored", plain, input(1, ends_exchanged(3)));
    table.add(family, of + "last row not written", plain, output(zero_from(2, 1)));
    table.add(family, of + "overlapping windows written, not added", plain,
              output(each([](double x, std::int64_t i) { return i % 2 == 0 ? x : x * 0.5; })));
    table.add(family, of + "bias left out", plain, without_input(2));
  }
}

}  // namespace driftscope::faults::convolution
