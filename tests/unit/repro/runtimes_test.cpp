// Reports for runtimes that do not read ONNX: the converted model, how the page passes tensors, issues.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/convert/read_model.hpp"
#include "core/convert/tfjs/convert.hpp"
#include "core/repro/converted.hpp"
#include "core/repro/report_files.hpp"
#include "tests/unit/repro/faulty_runtime.hpp"

namespace driftscope::test::repro_runtimes_test {
namespace {

/// A convolution of which an element is wrong, with its expected result.
Excerpt wrong_conv() {
  ThreadPool threads(1);
  Excerpt excerpt = conv({1, 3, 6, 5}, {4, 3, 3, 3});
  const auto verdict =
      runtime_with([](const Excerpt&, std::span<float> y) { y[7] += 1.0f + std::fabs(y[7]); })(excerpt);
  REQUIRE(verdict.ok());
  REQUIRE(set_expected(excerpt, Trace(), threads).ok());
  return excerpt;
}

repro::Facts facts(const std::string& engine) {
  return {.target = "chrome/" + engine,
          .host = "chrome",
          .engine = engine,
          .module = {},
          .version = "4.22.0",
          .browser = "Chromium 156.0",
          .device = "SwiftShader",
          .system = "Linux"};
}

std::vector<repro::File> files_of(const Excerpt& one, const repro::Facts& about,
                                  const std::optional<ParameterTable>& table = {}) {
  ThreadPool threads(1);
  auto files = repro::report_files(one, about, table, threads);
  REQUIRE_MESSAGE(files.ok(), files.error().message);
  return *std::move(files);
}

std::string text_of(const std::vector<repro::File>& files, std::string_view name) {
  const auto found = std::ranges::find(files, name, &repro::File::name);
  REQUIRE_MESSAGE(found != files.end(), name);
  return {reinterpret_cast<const char*>(found->bytes.data()), found->bytes.size()};
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

void check_nothing_of_ours(const std::vector<repro::File>& files) {
  for (const repro::File& file : files) {
    CAPTURE(file.name);
    CHECK_FALSE(holds(text_of(files, file.name), "riftscope"));
  }
}

}  // namespace

TEST_CASE("ReportFiles_ForTensorFlowJs_HaveACheckedGraphModelAndChannelsLast") {
  const Excerpt one = wrong_conv();
  for (const std::string backend : {"cpu", "wasm", "webgl", "webgpu"}) {
    CAPTURE(backend);
    const auto files = files_of(one, facts("tfjs-" + backend));
    const std::string page = text_of(files, "index.html");
    CHECK(holds(page, "node_modules/@tensorflow/tfjs-backend-" + backend + "/dist/tf-backend-" + backend));
    CHECK(holds(page, "tf.setBackend(\"" + backend + "\")"));
    CHECK(holds(page, "reordered((await load(\"x0.npy\")).data, [1, 3, 6, 5], [0, 2, 3, 1])"));
    CHECK(holds(page, "[1, 6, 5, 3], \"float32\""));
    CHECK(holds(page, "model.json</code>, converted from it, runs"));
    CHECK(holds(page, "loadGraphModel(\"./model.json\")"));  // whose weights lie beside it
    CHECK(holds(text_of(files, "package.json"), "\"@tensorflow/tfjs-core\": \"4.22.0\""));
    const std::string issue = text_of(files, "issue.md");
    for (const char* field :
         {"**System information**", "TensorFlow.js version: 4.22.0", "Browser version: Chromium 156.0",
          "Tensorflow.js Converter Version", "**Describe the current behavior**",
          "**Describe the expected behavior**", "**Standalone code to reproduce the issue**",
          "**Other info / logs**", "two references agree"}) {
      CAPTURE(field);
      CHECK(holds(issue, field));
    }
    check_nothing_of_ours(files);
  }
}

TEST_CASE("ReportFiles_ForLiteRt_HaveATfliteFileThatReadsBack") {
  const Excerpt one = wrong_conv();
  for (const std::string accelerator : {"wasm", "webgpu", "webnn"}) {
    CAPTURE(accelerator);
    const auto files = files_of(one, facts("litert-" + accelerator));
    const auto model = std::ranges::find(files, "model.tflite", &repro::File::name);
    REQUIRE(model != files.end());
    const auto read = convert::read_foreign_model(
        model->bytes, [](const std::string&) -> Result<std::vector<std::byte>> { return bad_input("none"); });
    REQUIRE(read.ok());
    REQUIRE(*read);
    CHECK((*read)->kind == "TensorFlow Lite");
    const std::string page = text_of(files, "index.html");
    CHECK(holds(page, "accelerator: \"" + accelerator + "\""));
    CHECK(holds(page, "await loadLiteRt(\"./node_modules/@litertjs/core/wasm/\""));
    CHECK(holds(text_of(files, "package.json"), "\"@litertjs/core\""));
    const std::string issue = text_of(files, "issue.md");
    for (const char* field : {"**Environment**", "browser: Chromium 156.0", "vendor and architecture",
                              "**Model**", "**Steps to reproduce**", "**Expected**", "**Actual**"}) {
      CAPTURE(field);
      CHECK(holds(issue, field));
    }
    check_nothing_of_ours(files);
  }
}

TEST_CASE("ReportFiles_ForWebNN_BuildTheGraphByTheTargetsCalls") {
  const Excerpt one = wrong_conv();
  repro::Facts about = facts("webnn");
  ThreadPool threads(1);
  const auto without = repro::report_files(one, about, {}, threads);
  REQUIRE_FALSE(without.ok());
  about.calls = "const o1 = builder.constant({}, (await load(\"w0.npy\")).data);\nconst y = o1;\n";
  const auto files = files_of(one, about);
  const std::string page = text_of(files, "index.html");
  CHECK(holds(page, about.calls));
  CHECK(holds(page, "await give(\"x0\", (await load(\"x0.npy\")).data);"));
  CHECK(std::ranges::find(files, "w0.npy", &repro::File::name) != files.end());
  CHECK(std::ranges::find(files, "w1.npy", &repro::File::name) == files.end());
  CHECK(std::ranges::find(files, "package.json", &repro::File::name) == files.end());
  CHECK(holds(text_of(files, "issue.md"), "**Chrome version**"));
  check_nothing_of_ours(files);
  about.calls = "load(\"v9.npy\")";
  CHECK(repro::report_files(one, about, {}, threads).error().message.find("v9.npy") != std::string::npos);
}

// A converter that computes something else is not the runtime's fault.
TEST_CASE("CheckedConversion_OfAnotherModel_IsRefused") {
  const Excerpt one = wrong_conv();
  ThreadPool threads(1);
  CHECK(repro::checked_conversion(one, facts("tfjs-cpu"), convert::tfjs::convert, threads).ok());
  const auto wrong = [](const Graph& graph, const convert::ConvertOptions& options) {
    Graph other = graph;
    for (Value& value : other.values) {
      if (!value.constant || value.name != "w0") continue;
      value.constant = *Tensor::from_bytes(DType::float32, value.constant->shape(), value.constant->bytes());
      value.constant->mutable_values<float>()[3] += 1.0f;
    }
    return convert::tfjs::convert(other, options);
  };
  const auto refused = repro::checked_conversion(wrong_conv(), facts("tfjs-cpu"), wrong, threads);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("the conversion may be what is wrong") != std::string::npos);
}

TEST_CASE("ReportFiles_WithATable_HaveItInIssueAndPage") {
  ParameterTable table{.parameter = "input channels", .own = 3};
  table.rows = {{.value = 3, .wrong = true, .wrong_elements = 5, .elements = 9, .largest_error = 2.5},
                {.value = 4, .wrong = false, .wrong_elements = 0, .elements = 9, .largest_error = 1e-7}};
  const auto files = files_of(wrong_conv(), facts("tfjs-wasm"), table);
  const std::string issue = text_of(files, "issue.md");
  CHECK(holds(issue, "wrong for 3 input channels, right for 4"));
  CHECK(holds(issue, "| 3 (attached) | **wrong** | 5 of 9 | 2.5 |"));
  CHECK(holds(issue, "| 4 | right | 0 of 9 | 1e-07 |"));
  CHECK(holds(text_of(files, "index.html"), "<td>4</td><td>right</td>"));
}

}  // namespace driftscope::test::repro_runtimes_test
