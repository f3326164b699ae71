// What the command line's tables say of layers: whole reasons, places of faults, shapes of what is in a file.
#include "core/report/tables.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/report/text_table.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::tables_test {
namespace {

LayerVerdict layer(const std::string& node, Verdict verdict, const std::string& reason = "") {
  LayerVerdict layer;
  layer.node = node;
  layer.op = "Conv";
  layer.output = node + ".out";
  layer.shape = {1, 2};
  layer.verdict = verdict;
  if (!reason.empty()) layer.findings = {{.id = "test.saying", .words = {{"text", reason}}}};
  return layer;
}

std::string table_of(std::vector<LayerVerdict> layers) {
  Verification verification;
  verification.layers = std::move(layers);
  verification.verdict = Verdict::fault;
  return verify_table(verification, {}, "run.safetensors");
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST_CASE("VerifyTable_Fault_HasItsPlaceAndValues") {
  LayerVerdict fault = layer("conv1", Verdict::fault);
  fault.budget_used = 236;
  fault.worst = WorstElement{{0, 0, 4, 23}, 17, 16, 0.001};
  const std::string text = table_of({layer("conv0", Verdict::rounding), fault});
  CHECK(has_line(text, "✗ fault  conv1 (Conv)"));
  CHECK(
      has_line(text, "    error is 236 × the rounding budget; worst at [0, 0, 4, 23]: got 17, expected 16"));
  CHECK(text.find("conv0 (Conv)") == std::string::npos);
}

TEST_CASE("VerifyTable_FaultWhereNothingRounds_IsNotMeasuredAgainstNothing") {
  LayerVerdict fault = layer("pool1", Verdict::fault);
  fault.budget_used = INFINITY;
  fault.worst = WorstElement{{3}, 0, 1, 0.0};
  CHECK(has_line(table_of({fault}),
                 "    values differ where nothing is rounded; worst at [3]: got 0, expected 1"));
}

TEST_CASE("VerifyTable_MissingLayer_HasNoNumbers") {
  const std::string text = table_of({layer("conv1", Verdict::missing, "not recorded")});
  CHECK(text.find("0/0") == std::string::npos);
  CHECK(text.find("–") != std::string::npos);
}

TEST_CASE("VerifyTable_FaultWithAReason_HasBoth") {
  LayerVerdict fault = layer("conv1", Verdict::fault, "its values are those of float16");
  fault.worst = WorstElement{{1}, 2, 3, 0.5};
  CHECK(has_line(table_of({fault}), "    its values are those of float16; worst at [1]: got 2, expected 3"));
  // A reason that names the element is enough.
  fault.findings = {{.id = "test.saying", .words = {{"text", "NaN at [1]"}}}};
  CHECK(has_line(table_of({fault}), "    NaN at [1]"));
}

TEST_CASE("VerifyTable_LongReason_IsThereInFullWhateverTheVerdict") {
  const std::string reason = "its input " + std::string(600, 'x') + " was not recorded";
  for (const Verdict verdict : {Verdict::missing, Verdict::unjudged, Verdict::rounding}) {
    const std::string text = table_of({layer("conv1", verdict, reason)});
    CHECK(has_line(text, "    " + reason));
    CHECK(text.find("…") == std::string::npos);
  }
  CHECK(table_of({layer("conv1", Verdict::missing, "not recorded")}).find("missing  not recorded\n") !=
        std::string::npos);
}

TEST_CASE("VerifyTable_SameReasonOfSeveralLayers_IsSaidOnce") {
  const std::string reason(60, 'r');
  const std::string text = table_of({layer("a", Verdict::missing, reason), layer("b", Verdict::fault, reason),
                                     layer("c", Verdict::missing, reason)});
  CHECK(
      has_line(text, "✗ fault  b (Conv)\n    " + reason + "\n· missing  a (Conv), c (Conv)\n    " + reason));
}

TEST_CASE("RunTable_ValuesThatWentToAFile_HaveShapeAndSize") {
  Trace trace;
  trace.nodes = {{"conv1", "Conv", {"inner"}, {1000}}, {"softmax", "Softmax", {"y"}, {1000}}};
  trace.tensors = {{"y", tensor<float>({1, 2}, {1, 2})}};
  const Trace whole = [&] {
    Trace copy = trace;
    copy.tensors.push_back({"inner", tensor<float>({1, 3}, {1, 2, 3})});
    return copy;
  }();
  CHECK(run_table(trace, {}, {{"inner", {{1, 3}, 12}}}) == run_table(whole));
  CHECK(run_table(trace, {}, {}) != run_table(whole));
}

}  // namespace
TEST_CASE("TextTable_AlignsByCodePoints") {
  TextTable table;
  table.column("layer", Align::left);
  table.column("time", Align::right);
  table.row({"Conv_0", "9 µs"});
  table.row({"Relu", "12 ms"});
  CHECK(table.text() ==
        "layer    time\n"
        "─────────────\n"
        "Conv_0   9 µs\n"
        "Relu    12 ms\n");
}

}  // namespace driftscope::test::tables_test
