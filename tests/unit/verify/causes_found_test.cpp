// Causes of faults that were found in releases of runtimes (docs/found.md): what they compute is made by hand
// here, and gets their name; what is nearly the same does not.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/random_tensor.hpp"

namespace driftscope::test::causes_found_test {
namespace {

/// The cause of one node's recorded output; "" without any.
std::string cause_of(const ModelBuilder& model, const std::vector<NamedTensor>& recorded) {
  Trace trace;
  trace.tensors = recorded;
  ThreadPool threads(1);
  const auto verification = verify(built(model), "", trace, threads);
  REQUIRE_MESSAGE(verification.ok(), verification.error().message);
  const LayerVerdict& layer = verification->layers.front();
  CHECK(is_bad(layer.verdict));
  if (!layer.explanation || !layer.explanation->cause) return "";
  return layer.explanation->cause->id + " " + layer.explanation->cause->text;
}

struct Convolution {
  std::int64_t channels, outputs, groups, length, taps;
  Tensor x, w;

  Convolution(std::int64_t c, std::int64_t m, std::int64_t g, std::int64_t n, std::int64_t k)
      : channels(c), outputs(m), groups(g), length(n), taps(k) {
    Rng rng(5);
    x = random_tensor(rng, {1, c, n});
    w = random_tensor(rng, {m, c / g, k});
  }

  /// With another input channel for each (output channel, channel within its group).
  [[nodiscard]] std::string cause(
      const std::function<std::int64_t(std::int64_t, std::int64_t)>& channel) const {
    const std::int64_t own = channels / groups, made = length - taps + 1;
    Tensor y = *Tensor::make(DType::float32, {1, outputs, made});
    for (std::int64_t m = 0; m < outputs; ++m)
      for (std::int64_t o = 0; o < made; ++o) {
        double sum = 0.0;
        for (std::int64_t c = 0; c < own; ++c)
          for (std::int64_t k = 0; k < taps; ++k)
            sum += double{x.values<float>()[static_cast<std::size_t>(channel(m, c) * length + o + k)]} *
                   double{w.values<float>()[static_cast<std::size_t>((m * own + c) * taps + k)]};
        y.mutable_values<float>()[static_cast<std::size_t>(m * made + o)] = static_cast<float>(sum);
      }
    return cause_of(ModelBuilder()
                        .input("x", DType::float32, {1, channels, length})
                        .initializer("w", w)
                        .node("Conv", {"x", "w"}, {"y"}, {integer("group", groups)})
                        .output("y"),
                    {{"x", x}, {"y", y}});
  }
};

}  // namespace

// Every hypothesis about Clip is tried, also those that compute the node again.
TEST_CASE("CausesFound_ClipWithoutLowerLimit_HasNone") {
  Rng rng(8872);
  const Tensor x = random_tensor(rng, {7, 17});
  const ModelBuilder model = ModelBuilder()
                                 .input("x", DType::float32, {7, 17})
                                 .initializer("high", tensor<float>({}, {0.5f}))
                                 .node("Clip", {"x", "", "high"}, {"y"})
                                 .output("y");
  std::vector<float> y;
  for (const float value : x.values<float>())
    y.push_back(std::min(value, 0.5f) + 0.1f * static_cast<float>(y.size() + 1));
  CHECK(cause_of(model, {{"x", x}, {"y", tensor<float>({7, 17}, y)}}) == "");
}

TEST_CASE("CausesFound_ThreesFromAQuarterOfTheirPlace_AreNamed") {
  for (const std::int64_t channels : {9, 129}) {
    const Convolution conv(channels, 4, 1, 12, 3);
    CHECK(conv.cause([](std::int64_t, std::int64_t c) { return c / 3 * 3 / 4 + c % 3; })
              .find("input.lanes an input read in other lanes (x along axis 1, every three from a quarter") ==
          0);
    CHECK(conv.cause([](std::int64_t, std::int64_t c) { return c / 3 + c % 3; }) == "");
  }
  // Of six channels that is the index modulo 3, which is simpler.
  const std::string six =
      Convolution(6, 4, 1, 12, 3).cause([](std::int64_t, std::int64_t c) { return c % 3; });
  CHECK(six.find("index modulo 3") != std::string::npos);
}

TEST_CASE("CausesFound_ChannelsInAnotherGroup_AreNamed") {
  const Convolution conv(6, 12, 3, 9, 2);
  const auto cause = [&](const std::function<std::int64_t(std::int64_t)>& group) {
    return conv.cause([&](std::int64_t m, std::int64_t c) { return group(m) * 2 + c; });
  };
  const std::string id = "attribute.group_of_channel channels in another group ";
  CHECK(cause([](std::int64_t m) { return m / 4 - (m % 4 == 0 && m > 0 ? 1 : 0); }) ==
        id + "(the first channel of each that of the one before)");
  CHECK(cause([](std::int64_t m) { return m / 4 - (m == 8 ? 1 : 0); }) ==
        id + "(one channel that of the group before)");
  CHECK(cause([](std::int64_t m) { return m % 3; }) == id + "(channels dealt out one by one)");
  CHECK(cause([](std::int64_t) { return 0; }) == id + "(the first group for all)");
  CHECK(cause([](std::int64_t m) { return m == 5 ? 2 : m / 4; }) == "");
  // Four channels share what the first of them has, where groups have six.
  const Convolution sixes(4, 12, 2, 9, 2);
  CHECK(sixes.cause([](std::int64_t m, std::int64_t c) { return m / 4 * 4 / 6 * 2 + c; }) ==
        id + "(four channels that of the first of them)");
}

TEST_CASE("CausesFound_SlicesThatIgnoreTheirStart_AreNamed") {
  Rng rng(9);
  const Tensor x = random_tensor(rng, {7, 40});
  const auto cause = [&](std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t got_start) {
    const std::int64_t count = (end - start + step - (step > 0 ? 1 : -1)) / step;
    Tensor y = *Tensor::make(DType::float32, {7, count});
    for (std::int64_t row = 0; row < 7; ++row)
      for (std::int64_t i = 0; i < count; ++i)
        y.mutable_values<float>()[static_cast<std::size_t>(row * count + i)] =
            x.values<float>()[static_cast<std::size_t>(row * 40 + got_start + i * step)];
    return cause_of(ModelBuilder()
                        .input("x", DType::float32, {7, 40})
                        .initializer("s", tensor<std::int64_t>({1}, {start}))
                        .initializer("e", tensor<std::int64_t>({1}, {end}))
                        .initializer("a", tensor<std::int64_t>({1}, {-1}))
                        .initializer("t", tensor<std::int64_t>({1}, {step}))
                        .node("Slice", {"x", "s", "e", "a", "t"}, {"y"})
                        .output("y"),
                    {{"x", x}, {"y", y}});
  };
  const std::string id = "attribute.slice_start starts ignored ";
  CHECK(cause(30, 3, -3, 39) == id + "(with a negative step from the last element)");
  CHECK(cause(10, 30, 3, 0) == id + "(from the first element)");
  CHECK(cause(30, 3, -3, 36) == "");
}

TEST_CASE("CausesFound_ResizedLengthsRoundedDown_AreNamed") {
  Rng rng(10);
  const Tensor x = random_tensor(rng, {1, 3, 10});
  const auto cause = [&](double resized) {  // the length that align_corners takes for 10 × 0.75
    Tensor y = *Tensor::make(DType::float32, {1, 3, 7});
    for (std::size_t i = 0; i < 21; ++i) {
      const double at = static_cast<double>(i % 7) * 9.0 / (resized - 1.0);
      const auto left = static_cast<std::size_t>(std::min(at, 8.0));
      const double share = at - static_cast<double>(left);
      const auto row = x.values<float>().subspan(i / 7 * 10, 10);
      y.mutable_values<float>()[i] =
          static_cast<float>((1.0 - share) * double{row[left]} + share * double{row[left + 1]});
    }
    return cause_of(
        ModelBuilder()
            .input("x", DType::float32, {1, 3, 10})
            .initializer("scales", tensor<float>({3}, {1.0f, 1.0f, 0.75f}))
            .node("Resize", {"x", "", "scales"}, {"y"},
                  {text("mode", "linear"), text("coordinate_transformation_mode", "align_corners")})
            .output("y"),
        {{"x", x}, {"y", y}});
  };
  CHECK(cause(7.0) == "attribute.resized_length align_corners with the resized length rounded down");
  CHECK(cause(7.2) == "");
}

TEST_CASE("CausesFound_AxesResizedOtherwise_AreNamed") {
  Rng rng(11);
  const Tensor x = random_tensor(rng, {1, 4, 5, 3});
  // Rows of the result, linear along the other axis; below 0 a row of zeros.
  const auto cause = [&](const std::function<std::int64_t(std::int64_t)>& row_of) {
    Tensor y = *Tensor::make(DType::float32, {1, 8, 10, 3});
    for (std::int64_t i = 0; i < 8 * 10 * 3; ++i) {
      const std::int64_t row = row_of(i / 30), column = i / 3 % 10, channel = i % 3;
      const double at = std::clamp((static_cast<double>(column) + 0.5) / 2.0 - 0.5, 0.0, 4.0);
      const auto left = static_cast<std::int64_t>(at), right = std::min<std::int64_t>(left + 1, 4);
      const double share = at - static_cast<double>(left);
      const auto value = [&](std::int64_t c) {
        return double{x.values<float>()[static_cast<std::size_t>((row * 5 + c) * 3 + channel)]};
      };
      y.mutable_values<float>()[static_cast<std::size_t>(i)] =
          row < 0 ? 0.0f : static_cast<float>((1.0 - share) * value(left) + share * value(right));
    }
    const auto with = [&](const char* name, const Tensor& lengths, std::vector<std::string> inputs) {
      return cause_of(ModelBuilder()
                          .input("x", DType::float32, {1, 4, 5, 3})
                          .initializer(name, lengths)
                          .node("Resize", std::move(inputs), {"y"}, {text("mode", "linear")})
                          .output("y"),
                      {{"x", x}, {"y", y}});
    };
    const std::string scaled =
        with("scales", tensor<float>({4}, {1.0f, 2.0f, 2.0f, 1.0f}), {"x", "", "scales"});
    CHECK(with("sizes", tensor<std::int64_t>({4}, {1, 8, 10, 3}), {"x", "", "", "sizes"}) == scaled);
    return scaled;
  };
  const std::string id = "attribute.resized_axis an axis resized otherwise than the rest ";
  CHECK(cause([](std::int64_t i) { return i < 4 ? i : -1; }) == id + "(axis 1 as long as before, 0 beyond)");
  CHECK(cause([](std::int64_t i) { return std::min<std::int64_t>(i, 3); }) ==
        id + "(axis 1 as long as before, the last element beyond)");
  CHECK(cause([](std::int64_t i) { return i / 2; }) ==
        id + "(axis 1 by the element before, not interpolated)");
  CHECK(cause([](std::int64_t i) { return std::max<std::int64_t>(i - 1, 0) / 2; }) ==
        id + "(axis 1 by the element before, of half_pixel, not interpolated)");
  CHECK(cause([](std::int64_t i) { return i < 3 ? i : -1; }) == "");
}

TEST_CASE("CausesFound_LogarithmsWithoutTheMaximum_AreNamed") {
  const float infinity = std::numeric_limits<float>::infinity();
  Tensor x = tensor<float>({4, 3}, {200, 1, 2, -300, -200, -250, 1, 2, 3, 90, 20, -400});
  const float rest = static_cast<float>(3.0 + std::log(1.0 + std::exp(-1.0) + std::exp(-2.0)));
  const auto reduced = [&](const std::vector<float>& y) {
    return cause_of(ModelBuilder()
                        .input("x", DType::float32, {4, 3})
                        .node("ReduceLogSumExp", {"x"}, {"y"}, {ints("axes", {1}), integer("keepdims", 0)})
                        .opset(13)
                        .output("y"),
                    {{"x", x}, {"y", tensor<float>({4}, y)}});
  };
  const std::string id = "activation.log_sum_without_maximum the maximum not subtracted before exp";
  CHECK(reduced({infinity, -infinity, rest, infinity}) == id);
  CHECK(reduced({infinity, -infinity, rest, 90.0f}) == "");
  const auto softmax = [&](float low) {
    std::vector<float> y;
    for (const float row : {-infinity, low, 0.0f, -infinity})
      for (std::size_t i = 0; i < 3; ++i)
        y.push_back(row == 0.0f ? static_cast<float>(static_cast<double>(i) + 1.0 - double{rest}) : row);
    return cause_of(ModelBuilder()
                        .input("x", DType::float32, {4, 3})
                        .node("LogSoftmax", {"x"}, {"y"}, {integer("axis", 1)})
                        .output("y"),
                    {{"x", x}, {"y", tensor<float>({4, 3}, y)}});
  };
  CHECK(softmax(infinity) == id);
  CHECK(softmax(-infinity) == "");
}

TEST_CASE("CausesFound_PackedBytesReadOtherwise_AreNamed") {
  Rng rng(12);
  Tensor x = *Tensor::make(DType::uint8, {3, 40});
  for (std::byte& byte : x.mutable_bytes()) byte = static_cast<std::byte>(rng.below(256));
  const auto cause = [&](double wrapped, const std::function<std::size_t(std::size_t)>& from) {
    Tensor y = *Tensor::make(DType::float32, {3, 40});
    for (std::size_t i = 0; i < 120; ++i) {
      const double difference = static_cast<double>(x.values<std::uint8_t>()[from(i)]) - 130.0;
      y.mutable_values<float>()[i] =
          static_cast<float>(difference < 0.0 ? difference + wrapped : difference) * 0.02f;
    }
    return cause_of(ModelBuilder()
                        .input("x", DType::uint8, {3, 40})
                        .initializer("s", tensor<float>({}, {0.02f}))
                        .initializer("z", tensor<std::uint8_t>({}, {130}))
                        .node("DequantizeLinear", {"x", "s", "z"}, {"y"})
                        .output("y"),
                    {{"x", x}, {"y", y}});
  };
  const std::string id = "input.dequantized_words packed bytes read otherwise ";
  const auto own = [](std::size_t i) { return i; };
  const auto fourth = [](std::size_t i) { return i / 16 * 4 + i % 4; };
  CHECK(cause(0x1p32, own) == "");  // all that is wrong is 2³² · scale: one number is too little evidence
  CHECK(cause(0.0, fourth) == id + "(only every fourth word read)");
  CHECK(cause(0x1p32, fourth) ==
        id + "(differences to the zero point without sign, only every fourth word read)");
  CHECK(cause(0x1p16, own) == "");
}

TEST_CASE("CausesFound_MatricesCountedModulo_AreNamed") {
  Rng rng(13);
  const Tensor a = random_tensor(rng, {2, 3, 4, 5}), b = random_tensor(rng, {2, 1, 5, 6});
  const auto cause = [&](const std::function<std::size_t(std::size_t)>& matrix) {
    Tensor y = *Tensor::make(DType::float32, {2, 3, 4, 6});
    for (std::size_t i = 0; i < 6 * 4 * 6; ++i) {
      const std::size_t batch = i / 24, row = i / 6 % 4, column = i % 6;
      double sum = 0.0;
      for (std::size_t k = 0; k < 5; ++k)
        sum += double{a.values<float>()[(batch * 4 + row) * 5 + k]} *
               double{b.values<float>()[(matrix(batch) * 5 + k) * 6 + column]};
      y.mutable_values<float>()[i] = static_cast<float>(sum);
    }
    return cause_of(ModelBuilder()
                        .input("a", DType::float32, {2, 3, 4, 5})
                        .initializer("b", b)
                        .node("MatMul", {"a", "b"}, {"y"})
                        .output("y"),
                    {{"a", a}, {"y", y}});
  };
  CHECK(cause([](std::size_t batch) { return batch % 2; }) ==
        "input.batches_modulo matrices of an input counted modulo their number");
  CHECK(cause([](std::size_t batch) { return batch == 1 || batch == 4 ? 1u : 0u; }) == "");
}

TEST_CASE("CausesFound_InfinitiesOfSquares_AreNoEvidenceForNarrowInputs") {
  // Squares overflow in float32; inputs in float16 would be infinite as well.
  const Tensor x = tensor<float>({4, 2}, {1e30f, 2e30f, 3e30f, 1e25f, 2e25f, 3e29f, 1e28f, 5e30f});
  const float infinity = std::numeric_limits<float>::infinity();
  const std::string cause =
      cause_of(ModelBuilder()
                   .input("x", DType::float32, {4, 2})
                   .node("ReduceL2", {"x"}, {"y"}, {ints("axes", {1}), integer("keepdims", 0)})
                   .opset(13)
                   .output("y"),
               {{"x", x}, {"y", tensor<float>({4}, {infinity, infinity, infinity, infinity})}});
  CHECK(cause == "");
}

}  // namespace driftscope::test::causes_found_test
