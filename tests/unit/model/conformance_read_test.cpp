// Every model and tensor of ONNX's own conformance cases is read, or rejected for a stated reason.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "core/graph/build.hpp"
#include "core/model/onnx_reader.hpp"

namespace driftscope::test::conformance_read_test {
namespace {

const std::filesystem::path cases = "/usr/share/libonnx-testdata/data/node";

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("ReadOnnx_ConformanceModels_AreReadOrUnsupported") {
  if (!std::filesystem::exists(cases)) {
    MESSAGE("skipped: the package libonnx-testdata is not installed");
    return;
  }
  int read = 0;
  int unsupported_models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cases)) {
    const auto path = entry.path() / "model.onnx";
    if (!std::filesystem::exists(path)) continue;
    INFO(path.string());
    const std::string text = file_text(path);
    const auto model = read_onnx(std::as_bytes(std::span(text)));
    if (!model.ok()) {
      CHECK_MESSAGE(model.error().kind == ErrorKind::unsupported, model.error().message);
      ++unsupported_models;
      continue;
    }
    const auto graph = build_graph(*model);
    CHECK_MESSAGE(graph.ok(), graph.error().message);
    CHECK(graph->nodes.size() == model->graph.nodes.size());
    ++read;
  }
  MESSAGE(read << " models read, " << unsupported_models << " unsupported");
  CHECK(read > 850);
  CHECK(unsupported_models < 60);  // opset 1, sequences, optionals, 8-bit floats
}

TEST_CASE("ReadTensor_ConformanceInputs_MatchTheModelsDeclaration") {
  if (!std::filesystem::exists(cases)) {
    MESSAGE("skipped: the package libonnx-testdata is not installed");
    return;
  }
  int checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cases)) {
    const auto path = entry.path();
    const std::string model_text = file_text(path / "model.onnx");
    const auto model = read_onnx(std::as_bytes(std::span(model_text)));
    if (!model.ok() || model->graph.inputs.empty()) continue;
    const ValueInfo& input = model->graph.inputs[0];
    const std::string text = file_text(path / "test_data_set_0" / "input_0.pb");
    if (text.empty() || input.dtype == DType::string) continue;
    INFO(path.string());
    const auto named = read_tensor_proto(std::as_bytes(std::span(text)));
    REQUIRE_MESSAGE(named.ok(), named.error().message);
    // ONNX's own generator wrote the bits of bfloat16 inputs as uint16.
    if (input.dtype != DType::bfloat16) CHECK(named->tensor.dtype() == input.dtype);
    if (input.shape) CHECK(named->tensor.rank() == static_cast<int>(input.shape->size()));
    ++checked;
  }
  MESSAGE(checked << " tensors read");
  CHECK(checked > 700);
}

}  // namespace driftscope::test::conformance_read_test
