// One size or attribute of a failing node varied: which one tells right from wrong.
#include "core/repro/parameter_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/repro/faulty_runtime.hpp"

namespace driftscope::test::parameter_table_test {
namespace {

void spoil(std::span<float> y) {
  for (float& value : y) value += 1.0f + std::fabs(value);
}

std::optional<ParameterTable> varied(Excerpt excerpt, const Fault& fault, VaryOptions options = {},
                                     int* runs = nullptr) {
  ThreadPool threads(1);
  const RunExcerpt run = runtime_with(fault, runs);
  const auto verdict = run(excerpt);
  REQUIRE(verdict.ok());
  REQUIRE(is_bad(verdict->verdict));
  if (runs != nullptr) *runs = 0;
  auto table = vary_parameters(excerpt, run, options, threads);
  REQUIRE_MESSAGE(table.ok(), table.error().message);
  return *std::move(table);
}

std::vector<std::int64_t> values(const ParameterTable& table, bool wrong) {
  std::vector<std::int64_t> list;
  for (const ParameterRow& row : table.rows)
    if (row.wrong == wrong) list.push_back(row.value);
  return list;
}

}  // namespace

// As ONNX Runtime Web 1.30's convolution on WebGPU.
TEST_CASE("VaryParameters_FaultOfChannelsModulo4_NamesInputChannels") {
  const auto fault = [](const Excerpt& excerpt, std::span<float> y) {
    if (shape_of(excerpt, 0)[1] % 4 == 2) spoil(y);
  };
  int runs = 0;
  const auto table = varied(conv({1, 6, 7, 9}, {5, 6, 3, 3}), fault, {}, &runs);
  REQUIRE(table);
  CHECK(table->parameter == "input channels");
  CHECK(table->own == 6);
  CHECK(table->separates());
  CHECK(runs <= 20);
  CHECK(table->runs == runs);
  for (const std::int64_t value : values(*table, true)) CHECK(value % 4 == 2);
  for (const std::int64_t value : values(*table, false)) CHECK(value % 4 != 2);
  // Both sides of the recorded size.
  for (const std::int64_t value : {2, 4, 8, 10, 12}) {
    CAPTURE(value);
    CHECK(std::ranges::find(table->rows, value, &ParameterRow::value) != table->rows.end());
  }
  for (const ParameterRow& row : table->rows) CHECK((row.largest_error > 0.5) == row.wrong);
  CHECK(parameter_text(*table).find("wrong for 2, 6, 10") == 0);
  CHECK(parameter_text(*table).find("input channels, right for 1, 3, 4") != std::string::npos);
}

TEST_CASE("VaryParameters_FaultOfAStride_NamesItAndWhatHasNoEffect") {
  const auto fault = [](const Excerpt& excerpt, std::span<float> y) {
    const Attribute* const strides = excerpt.node().attribute("strides");
    if (strides != nullptr && std::get<std::vector<std::int64_t>>(strides->value)[0] == 2) spoil(y);
  };
  const auto table =
      varied(conv({1, 3, 8, 10}, {2, 3, 3, 3}, {ints("strides", {2, 2})}), fault, {.most_runs = 40});
  REQUIRE(table);
  CHECK(table->parameter == "stride");
  CHECK(values(*table, true) == std::vector<std::int64_t>{2});
  CHECK(std::ranges::find(table->no_effect, "input channels") != table->no_effect.end());
  CHECK(parameter_text(*table).find("wrong for stride 2, right for 1, 3") == 0);
}

// Channels of a depthwise convolution: in input, weights, bias and group at once; kernel_shape as exporters
// write it.
TEST_CASE("VaryParameters_Depthwise_ChangesChannelsAndGroupsTogether") {
  const auto fault = [](const Excerpt& excerpt, std::span<float> y) {
    if (shape_of(excerpt, 0)[1] > 5) spoil(y);
  };
  const auto table =
      varied(conv({1, 7, 9, 9}, {7, 1, 3, 3}, {integer("group", 7), ints("kernel_shape", {3, 3})}), fault);
  REQUIRE(table);
  CHECK(table->parameter == "input channels");
  CHECK(table->separates());
  for (const ParameterRow& row : table->rows) CHECK(row.wrong == (row.value > 5));
}

TEST_CASE("VaryParameters_AlwaysWrong_SaysSo") {
  const auto table =
      varied(conv({1, 2, 5, 6}, {3, 2, 1, 1}), [](const Excerpt&, std::span<float> y) { spoil(y); });
  REQUIRE(table);
  CHECK_FALSE(table->separates());
  CHECK(parameter_text(*table).find("wrong for all values tried: ") == 0);
  CHECK(table->no_effect.size() > 1);
}

TEST_CASE("VaryParameters_StoppedOrAtItsLimit_KeepsWhatIsKnown") {
  const auto fault = [](const Excerpt&, std::span<float> y) { spoil(y); };
  VaryOptions few{.most_runs = 1};
  const auto one = varied(conv({1, 2, 5, 6}, {3, 2, 1, 1}), fault, few);
  REQUIRE(one);
  CHECK(one->rows.size() == 2);
  VaryOptions none;
  none.go_on = [](const std::string&, std::int64_t) { return false; };
  CHECK_FALSE(varied(conv({1, 2, 5, 6}, {3, 2, 1, 1}), fault, none));
}

}  // namespace driftscope::test::parameter_table_test
