// Models that were converted and read back, run beside the original. Clients: tests of the readers.
#pragma once

#include "core/convert/tf/to_onnx.hpp"
#include "core/convert/tfjs/convert.hpp"
#include "core/convert/tfjs/reader/read.hpp"
#include "core/model/onnx_writer.hpp"
#include "tests/unit/convert_check/small_conversion.hpp"
#include "tests/unit/support/files.hpp"

namespace driftscope::test {

/// The graph as ONNX, through the bytes of a file.
inline Graph as_onnx(const tf::TfGraph& graph) {
  const auto model = tf::to_onnx(graph);
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  const auto bytes = write_onnx(*model);
  REQUIRE_MESSAGE(bytes.ok(), bytes.error().message);
  auto read = infer_shapes(built(*bytes));
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  return *std::move(read);
}

inline convert::tfjs::WeightFiles files_of(const convert::ConvertedModel& model) {
  return [&model](const std::string& name) -> Result<std::vector<std::byte>> {
    for (const convert::File& file : model.files)
      if (file.name == name) return file.bytes;
    return missing_error("no file " + name);
  };
}

inline std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The check of `graph` against `read`, both run on seeded inputs.
inline convert::Check check_against(const Graph& graph, const Graph& read) {
  const RunModel original = run_model(graph);
  std::vector<NamedTensor> inputs;
  for (const ValueId id : original.graph->inputs)
    inputs.push_back({original.graph->value_name(id), *original.trace.find(original.graph->value_name(id))});
  const auto matched = convert::match_inputs(inputs, read, {});
  REQUIRE_MESSAGE(matched.ok(), matched.error().message);
  const RunModel converted = run_model(read, matched->tensors);
  ThreadPool threads(1);
  auto check = convert::check_conversion(convert::Side(original.graph.get(), original.trace),
                                         convert::Side(converted.graph.get(), converted.trace),
                                         convert::with_inputs({}, *matched), threads);
  REQUIRE_MESSAGE(check.ok(), check.error().message);
  return *std::move(check);
}

/// All layers are rounding at most, and every output is among them.
inline void expect_same(const convert::Check& check, std::size_t outputs) {
  for (const convert::Explanation& one : check.explanations)
    MESSAGE(check.layers[one.layer].values.a << ": " << one.text);
  CHECK_FALSE(check.first_parting.has_value());
  CHECK(check.verdict <= Verdict::rounding);
  CHECK(static_cast<std::size_t>(std::ranges::count_if(check.layers, &convert::CheckedLayer::output)) ==
        outputs);
}

}  // namespace driftscope::test
