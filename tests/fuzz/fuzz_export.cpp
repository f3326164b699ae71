// A model in the formats of other runtimes, and read again: what we write we can read, and it computes
// the same.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>

#include "core/convert/format.hpp"
#include "core/convert/read_model.hpp"
#include "core/convert_check/alignment.hpp"
#include "core/convert_check/check.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/graph/build.hpp"
#include "core/model/alive_tensors.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/runtime/engine.hpp"
#include "fuzz/support/model_mutator.hpp"

namespace {

using namespace driftscope;

constexpr std::int64_t max_bytes = 64 << 20;
constexpr std::int64_t max_elements = 1 << 14;
constexpr double farthest = 1e-2;  // root mean square, relative: rewritten sums round differently
constexpr double largest = 1e4;    // beyond it, rewritten sums may cancel

[[noreturn]] void fail(const convert::Format& format, const std::string& what) {
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(format.name.size()), format.name.data(), what.c_str());
  std::abort();
}

/// An export must know every shape, and believes what the file declares where it depends on data.
bool is_believed(const Graph& graph) {
  return std::ranges::any_of(graph.values, [](const Value& value) {
    return value.declared_shape || value.declared_dtype != DType::undefined;
  });
}

bool is_small(const Graph& graph) {
  for (const Value& value : graph.values) {
    const auto shape = value.static_shape();
    if (shape && element_count(*shape) > max_elements) return false;
  }
  return true;
}

/// Watches whether a comparison of results makes sense: no value is huge or no number.
class Tame final : public TraceSink {
 public:
  [[nodiscard]] bool wants(ValueId) const override { return true; }
  Status value(ValueId, const Tensor& tensor) override {
    if (tensor.dtype() == DType::string) return {};
    for (const double number : numbers_of(tensor))
      if (!(std::fabs(number) < largest)) tame = false;
    return {};
  }
  void node_done(NodeId, std::int64_t) override {}
  bool tame = true;
};

std::optional<std::vector<Tensor>> run(const BoundInputs& bound, Tame& sink) {
  const auto engine = find_engine("strict");
  EngineOptions options;
  options.threads = 1;
  auto session = (*engine)->prepare(bound.graph, options);
  if (!session.ok()) return std::nullopt;
  auto outputs = run_to_end(**session, bound.inputs, sink);
  if (!outputs.ok()) return std::nullopt;
  return *std::move(outputs);
}

void check(const convert::Format& format, const BoundInputs& bound, const NamedInputs& inputs,
           const std::vector<Tensor>& expected, bool tame) {
  const auto written = format.convert(*bound.graph, {});
  if (!written.ok()) {
    if (written.error().kind == ErrorKind::internal) fail(format, written.error().message);
    return;
  }
  const auto beside = [&](const std::string& name) -> Result<std::vector<std::byte>> {
    for (const convert::File& file : written->files)
      if (file.name == name) return file.bytes;
    return io_error("no file " + name);
  };
  const auto read = convert::read_foreign_model(written->files.at(0).bytes, beside);
  if (!read.ok()) fail(format, "what was written is not read: " + read.error().message);
  if (!*read) fail(format, "what was written is not recognised");
  const auto graph = build_graph((*read)->model);
  if (!graph.ok()) fail(format, "what was read is not a graph: " + graph.error().message);

  convert::ValueMap map;
  for (const NamedTensor& input : inputs)
    if (const auto place = written->values.find(input.name); place != written->values.end())
      map.pairs.push_back({.a = input.name,
                           .b = place->second.name,
                           .order = place->second.order,
                           .by = convert::FoundBy::given});
  const auto matched = convert::match_inputs(inputs, *graph, map);
  if (!matched.ok()) return;  // an input that nothing reads is not in the other model
  const auto other = bind_inputs(*graph, matched->tensors);
  if (!other.ok()) fail(format, "what was read does not take the inputs: " + other.error().message);
  Tame sink;
  const auto outputs = run(*other, sink);
  if (!outputs) return;  // TensorFlow has integer operations that ONNX refuses, such as x / 0
  if (!tame || !sink.tame) return;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].dtype() != DType::float32 || expected[i].elements() == 0) continue;
    const auto& name = bound.graph->values[bound.graph->outputs[i]].name;
    const auto place = written->values.find(name);
    if (place == written->values.end()) continue;
    for (std::size_t j = 0; j < outputs->size(); ++j) {
      if (other->graph->values[other->graph->outputs[j]].name != place->second.name) continue;
      convert::Order order = place->second.order;
      const double apart = convert::distance(expected[i], (*outputs)[j], order);
      double peak = 0.0;
      for (const double number : numbers_of(expected[i])) peak = std::max(peak, std::fabs(number));
      if (peak > 1e-3 && !(apart < farthest)) fail(format, name + ": " + std::to_string(apart) + " apart");
    }
  }
}

}  // namespace

DRIFTSCOPE_FUZZ_MODELS

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  limit_alive_tensors(alive_tensors().bytes + max_bytes, "the fuzzer");
  const auto model = read_onnx(std::as_bytes(std::span(data, size)));
  if (!model.ok()) return 0;
  const auto graph = build_graph(*model);
  if (!graph.ok()) return 0;
  const auto inputs = seeded_inputs(*graph, size);
  if (!inputs.ok()) return 0;
  const auto bound = bind_inputs(*graph, *inputs);
  if (!bound.ok() || !is_small(*bound->graph) || is_believed(*bound->graph)) return 0;
  Tame sink;
  const auto expected = run(*bound, sink);
  if (!expected) return 0;
  for (const convert::Format& format : convert_formats().all())
    check(format, *bound, *inputs, *expected, sink.tame);
  return 0;
}
