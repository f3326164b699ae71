// The cases in tests/data/ops, computed by PyTorch in double (tools/zoo/op_cases.py).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/graph/build.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/trace/trace_file.hpp"
#include "unit/ops/graph_case.hpp"

namespace driftscope::test::pytorch_cases_test {
namespace {

namespace fs = std::filesystem;

Result<GraphCase> load(const fs::path& model_path) {
  GraphCase c;
  c.name = model_path.stem().string();
  DRIFTSCOPE_TRY(const auto bytes, read_file(model_path.string()));
  DRIFTSCOPE_TRY(const Model model, read_onnx(bytes));
  DRIFTSCOPE_TRY(c.graph, build_graph(model));
  fs::path tensors = model_path;
  DRIFTSCOPE_TRY(const auto trace_bytes, read_file(tensors.replace_extension("safetensors").string()));
  DRIFTSCOPE_TRY(const Trace trace, read_trace(trace_bytes));
  for (const ValueId id : c.graph.inputs)
    if (const Tensor* tensor = trace.find(c.graph.values[id].name))
      c.inputs.push_back({c.graph.values[id].name, *tensor});
  for (const ValueId id : c.graph.outputs)
    if (const Tensor* tensor = trace.find(c.graph.values[id].name))
      c.wanted.push_back({c.graph.values[id].name, *tensor});
  return c;
}

}  // namespace

TEST_CASE("PytorchCases_AllOperators_AgreeInEveryScalar") {
  std::vector<fs::path> models;
  for (const auto& entry : fs::directory_iterator(DRIFTSCOPE_SOURCE_DIR "/tests/data/ops"))
    if (entry.path().extension() == ".onnx") models.push_back(entry.path());
  std::sort(models.begin(), models.end());
  REQUIRE(models.size() >= 300);
  ThreadPool threads(2);
  for (const fs::path& path : models) {
    INFO(path.filename().string());
    const auto c = load(path);
    REQUIRE_MESSAGE(c.ok(), c.error().message);
    CHECK(c->wanted.size() == c->graph.outputs.size());
    const auto problems = check_case(*c, threads);
    CHECK_MESSAGE(problems.ok(), problems.error().message);
    if (problems.ok())
      for (const std::string& problem : *problems) FAIL_CHECK(problem);
  }
  MESSAGE(fmt::format("{} cases run", models.size()));
}

}  // namespace driftscope::test::pytorch_cases_test
