// Readers of training curves: what each format holds, and what is wrong with others.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "core/base/rng.hpp"
#include "core/curves/crc32c.hpp"
#include "core/curves/curve_format.hpp"
#include "core/curves/curves_text.hpp"
#include "unit/support/files.hpp"
#include "unit/support/seed.hpp"

namespace driftscope::test::curve_formats_test {
namespace {

Result<CurveFile> curves_in(const std::string& text, const std::string& run = "run") {
  return read_curves({"a.file", run, std::as_bytes(std::span(text))});
}

CurveFile good(const std::string& text) {
  auto read = curves_in(text);
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
  return *std::move(read);
}

std::string fault(const std::string& text) {
  const auto read = curves_in(text);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().message.starts_with("a.file: "));
  return read.error().message;
}

bool says(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  return text.find(part) != std::string::npos;
}

std::string stored(const std::string& name) {
  const auto bytes = repository_file("tests/data/curves/" + name);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A record of an event file, as TensorFlow writes it.
std::string record(const std::string& data) {
  const std::uint64_t length = data.size();
  std::string bytes(reinterpret_cast<const char*>(&length), 8);
  const auto add = [&bytes](std::string_view checked) {
    const std::uint32_t crc = masked_crc32c(std::as_bytes(std::span(checked)));
    bytes.append(reinterpret_cast<const char*>(&crc), 4);
  };
  add(std::string(bytes));
  bytes += data;
  add(data);
  return bytes;
}

}  // namespace

TEST_CASE("Crc32c_OfTheStandardsExamples") {
  // RFC 3720, B.4.
  const std::string zeros(32, '\0');
  const std::string ones(32, '\xff');
  const std::string digits = "123456789";
  CHECK(crc32c(std::as_bytes(std::span(zeros))) == 0x8a9136aau);
  CHECK(crc32c(std::as_bytes(std::span(ones))) == 0x62a8ab43u);
  CHECK(crc32c(std::as_bytes(std::span(digits))) == 0xe3069283u);
}

TEST_CASE("Curves_TensorBoard_ReadsWhatTensorFlowWrote") {
  // Written by TensorFlow 2.21: tensors of float32 and float64 by tf.summary, simple_value by TFRecordWriter.
  const CurveFile tensors = good(stored("tensor.tfevents"));
  CHECK(tensors.format == "tensorboard");
  REQUIRE(tensors.curves.size() == 2);
  CHECK(tensors.curves[0].metric == "epoch_loss");
  CHECK(tensors.curves[1].metric == "epoch_accuracy");
  CHECK(tensors.curves[0].run == "run");
  for (std::size_t step = 0; step < 6; ++step) {
    const double n = static_cast<double>(step) + 1.0;
    CHECK(tensors.curves[0].steps[step] == static_cast<double>(step));
    CHECK(tensors.curves[0].values[step] == static_cast<double>(static_cast<float>(2.0 / n)));
    CHECK(tensors.curves[1].values[step] == 1.0 - 0.5 / n);
  }
  REQUIRE(tensors.notes.size() == 1);
  CHECK(says(tensors.notes[0], "1 summaries that are no scalars"));
  const CurveFile simple = good(stored("simple_value.tfevents"));
  REQUIRE(simple.curves.size() == 1);
  CHECK(simple.curves[0].values == tensors.curves[0].values);
}

TEST_CASE("Curves_TensorBoard_DamageIsNamedWithItsOffset") {
  std::string bytes = stored("simple_value.tfevents");
  std::string damaged = bytes;
  damaged[60] = static_cast<char>(damaged[60] ^ 1);
  CHECK(says(fault(damaged), "record 2 at offset"));
  CHECK(says(fault(damaged), "checksum"));
  // A run that was stopped leaves a part of a record.
  const CurveFile cut = good(bytes.substr(0, bytes.size() - 3));
  CHECK(cut.curves[0].steps.size() == 5);
  REQUIRE(cut.notes.size() == 1);
  CHECK(says(cut.notes[0], "the file ends inside it"));
  // Right checksums around bytes that are no event.
  CHECK(says(fault(record("\xff\xff\xff")), "record 1 at offset 0"));
  CHECK(says(fault(record("")), "no curves in it"));
  // A length beyond the file ends it, whatever it says.
  std::string far = bytes;
  const std::uint64_t length = ~std::uint64_t{0} - 3;
  std::string header(reinterpret_cast<const char*>(&length), 8);
  const std::uint32_t crc = masked_crc32c(std::as_bytes(std::span(header)));
  header.append(reinterpret_cast<const char*>(&crc), 4);
  CHECK(good(far + header).curves[0].steps.size() == 6);
}

TEST_CASE("Curves_Csv_WideWithGapsRunsAndRepetitions") {
  const CurveFile file = good(
      "\xef\xbb\xbf"
      "epoch;run;seed;loss;acc;host\r\n1;a;0;2.5;;pc\r\n2;a;0;nan;0.5;pc\r\n\r\n# "
      "x\r\n1;\"b\";7;1e-3;0.25;pc\r\n");
  REQUIRE(file.curves.size() == 4);
  CHECK(file.curves[0].run == "a");
  CHECK(file.curves[0].metric == "loss");
  CHECK(file.curves[0].steps == std::vector<double>{1, 2});
  CHECK(std::isnan(file.curves[0].values[1]));
  CHECK(file.curves[1].steps == std::vector<double>{2});
  CHECK(file.curves[2].repetition == 7);
  CHECK(file.curves[2].values == std::vector<double>{1e-3});
  REQUIRE(file.notes.size() == 1);
  CHECK(says(file.notes[0], "column 'host' has words"));
  // Rows without steps are counted; a value that comes later replaces that of the same step.
  CHECK(good("loss\n3\n2\n").curves[0].steps == std::vector<double>{1, 2});
  const Curve again = good("step,loss\n2,5\n1,4\n2,3\n").curves[0];
  CHECK(again.steps == std::vector<double>{1, 2});
  CHECK(again.values == std::vector<double>{4, 3});
}

TEST_CASE("Curves_Csv_FaultsNameTheLine") {
  CHECK(says(fault("epoch,loss\n1,2\n2\n"), "line 3: 1 cells, the header has 2"));
  CHECK(says(fault("epoch,loss\n1,2\n2,oops\n"), "line 3, column 'loss': expected a number, found 'oops'"));
  CHECK(says(fault("epoch,loss\nx,2\n"), "line 2, column 'epoch'"));
  CHECK(says(fault("epoch,loss\ninf,2\n"), "line 2: the step inf is not finite"));
  CHECK(says(fault("epoch,seed,loss\n1,0.5,2\n"), "line 2: seed 0.5: expected a whole number"));
  CHECK(says(fault("1,2\n3,4\n"), "line 1: expected a header"));
  CHECK(says(fault("a,\"b\n1,2\n"), "line 1: expected a header"));
  CHECK(says(fault("a,b\n1,\"2\n"), "line 2: a quote is not closed"));
  CHECK(says(fault("words\nand\nmore\n"), "no curves in it"));
  CHECK(says(fault(""), "not a file of training curves (0 bytes"));
  CHECK(says(fault(std::string("\0\1\2", 3)), "not a file of training curves"));
}

TEST_CASE("Curves_Keras_HistoryWithNaN") {
  const CurveFile file =
      good("{\"loss\": [2.5, NaN, -Infinity], \"val_loss\": [1, 2, null], \"note\": \"NaN\", \"empty\": []}");
  CHECK(file.format == "keras");
  REQUIRE(file.curves.size() == 2);
  CHECK(file.curves[0].steps == std::vector<double>{1, 2, 3});
  CHECK(std::isnan(file.curves[0].values[1]));
  CHECK(file.curves[0].values[2] == -HUGE_VAL);
  CHECK(std::isnan(file.curves[1].values[2]));
  CHECK(good("{\"history\": {\"loss\": [2, 1]}, \"epoch\": [4, 5]}").curves[0].steps ==
        std::vector<double>{5, 6});
  CHECK(says(fault("{\"loss\": [2, \"x\"]}"), "'loss'[1]: expected a number"));
  CHECK(says(fault("{\"history\": {\"loss\": [2, 1]}, \"epoch\": [4]}"),
             "'loss' has 2 values, \"epoch\" has 1"));
  CHECK(says(fault("{\"a\": 1}"), "expected the history of Keras"));
  fault("{\"loss\": [2,");
}

TEST_CASE("Curves_Training_OfTheDocument") {
  const std::string head =
      R"({"format": "driftscope-training-1", "optimizer": "sgd", "seed": 1, "repetitions": 1,
      "parted_above": 0.001, "planted": ["keras:sum"], "environments": [], "failed": [],
      "models": [{"name": "m", "data": "digits",
      "train_samples": 4, "test_samples": 2, "rate": 0.05, "batch": 2, "epochs": 1, "layers": ["a", "b"],
      "weights": ["a.weight"], "steps": [],
      "runs": [{"framework": "jax", "repetition": 0, "seconds": 1.5, "epochs":)";
  const std::string tail =
      R"(}], "drift": [{"left": "jax", "right": "keras", "repetition": 0, "points":
      [{"epoch": 0, "weights": [0], "layers": [0, 1e-8]},
      {"epoch": 1, "weights": [0.5], "layers": [1, 2]}]}]}]})";
  const CurveFile file = good(head + R"([
      {"epoch": 0, "loss": null, "test_loss": 2.5, "accuracy": 0.5, "tested": 2},
      {"epoch": 1, "loss": 2, "test_loss": null, "accuracy": 1, "tested": 2}])" +
                              tail);
  REQUIRE(file.curves.size() == 5);
  CHECK(file.curves[0].run == "m/jax");
  CHECK(file.curves[0].steps == std::vector<double>{1});
  CHECK(file.curves[1].metric == "test loss");
  CHECK(std::isnan(file.curves[1].values[1]));
  CHECK(file.curves[3].metric == "drift of the outputs");
  CHECK(file.curves[3].values == std::vector<double>{1e-8, 2});
  CHECK(file.curves[4].values == std::vector<double>{0, 0.5});
  CHECK(says(file.notes[0], "keras:sum"));
  CHECK(says(fault(head + "[{\"epoch\": 0}]" + tail), "models[0].runs[0].epochs[0]"));
  CHECK(says(fault(R"({"format": "driftscope-training-9"})"), "which this version reads"));
}

TEST_CASE("Curves_WrittenAsCsv_AreReadAgain") {
  const std::uint64_t seed = test_seed(20);
  SEED_INFO(seed);
  Rng random(seed);
  for (int round = 0; round < 50; ++round) {
    std::vector<Curve> curves;
    const std::size_t count = 1 + random.below(5);
    for (std::size_t i = 0; i < count; ++i) {
      Curve curve{i % 2 == 0 ? "a,\"b\"; c" : "plain",
                  "loss " + std::to_string(i),
                  static_cast<std::int64_t>(i),
                  {},
                  {}};
      double step = 0.0;
      for (std::size_t k = 0; k < 1 + random.below(9); ++k) {
        curve.steps.push_back(step += 0.1 + static_cast<double>(random.below(5)));
        const auto kind = random.below(9);
        curve.values.push_back(kind == 0   ? std::nan("")
                               : kind == 1 ? -HUGE_VAL
                                           : (static_cast<double>(random.below(2'000'000)) - 1e6) / 3e9);
      }
      curves.push_back(std::move(curve));
    }
    const CurveFile again = good(curves_csv(curves));
    REQUIRE(again.curves.size() == curves.size());
    for (std::size_t i = 0; i < curves.size(); ++i) {
      CHECK(again.curves[i].run == curves[i].run);
      CHECK(again.curves[i].metric == curves[i].metric);
      CHECK(again.curves[i].repetition == curves[i].repetition);
      CHECK(again.curves[i].steps == curves[i].steps);
      for (std::size_t k = 0; k < curves[i].values.size(); ++k)
        CHECK((again.curves[i].values[k] == curves[i].values[k] ||
               (std::isnan(again.curves[i].values[k]) && std::isnan(curves[i].values[k]))));
    }
  }
}

}  // namespace driftscope::test::curve_formats_test
