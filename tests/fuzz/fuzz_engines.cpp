// A model on every engine of the CPU. Either all run it or all refuse it, and what they computed verify,
// which evaluates the reference, must not call a fault: a false alarm is as much a defect as a crash.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>

#include "core/base/sha256.hpp"
#include "core/bench/product_count.hpp"
#include "core/graph/build.hpp"
#include "core/model/alive_tensors.hpp"
#include "core/model/onnx_reader.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "core/trace/record.hpp"
#include "core/verify/verify.hpp"
#include "fuzz/support/model_mutator.hpp"

namespace {

using namespace driftscope;

constexpr std::int64_t max_bytes = 64 << 20;
constexpr double max_products = 2e6;
constexpr std::int64_t longest_ns = 300'000'000;
constexpr std::int64_t slice_ns = 1'000'000;
constexpr std::int64_t max_elements = 1 << 14;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

/// Of a run: its trace, why it was refused, or nothing when it takes too long or too much.
struct Outcome {
  std::optional<Trace> trace;
  std::optional<Error> refused;
};

bool only_large(const Error& error) {
  return error.kind == ErrorKind::limit || error.kind == ErrorKind::cancelled;
}

Outcome run(const std::string& engine_name, const BoundInputs& bound, Capture capture) {
  const auto engine = find_engine(engine_name);
  if (!engine.ok()) fail(engine.error().message);
  EngineOptions options;
  options.threads = 1;
  options.fuse = capture != Capture::all;
  auto session = (*engine)->prepare(bound.graph, options);
  if (!session.ok()) return {.trace = {}, .refused = session.error()};
  Recording recording(bound.graph, **session, bound.inputs, {.capture = capture});
  const std::int64_t begin = monotonic_ns();
  while (true) {
    const auto progress = recording.poll(slice_ns);
    if (!progress.ok()) return {.trace = {}, .refused = progress.error()};
    if (progress->finished()) break;
    if (monotonic_ns() - begin > longest_ns) return {};
  }
  auto trace = recording.take();
  if (!trace.ok()) return {.trace = {}, .refused = trace.error()};
  return {.trace = *std::move(trace), .refused = {}};
}

/// Values at which functions end: some elements of the inputs become huge, tiny or 0.
void make_awkward(NamedInputs& inputs, Rng& rng) {
  constexpr float awkward[] = {0.0f, -0.0f, 1e-42f, 1e38f, -3e38f, 1.0f, -1.0f, 0.5f, 88.8f, -104.0f};
  for (NamedTensor& input : inputs) {
    if (input.tensor.dtype() != DType::float32 || rng.below(2) == 0) continue;
    auto changed = Tensor::from_bytes(DType::float32, input.tensor.shape(), input.tensor.bytes());
    if (!changed.ok()) continue;
    for (float& value : changed->mutable_values<float>())
      if (rng.below(4) == 0) value = awkward[rng.below(std::size(awkward))];
    input.tensor = *std::move(changed);
  }
}

bool is_small(const Graph& graph) {
  if (const auto products = count_products(graph); products && *products > max_products) return false;
  for (const Value& value : graph.values) {
    if (!value.shape) continue;
    double elements = 1.0;
    for (const Dimension& dimension : *value.shape)
      elements *= static_cast<double>(std::max<std::int64_t>(1, dimension.size));
    if (elements > static_cast<double>(max_elements)) return false;
  }
  return true;
}

void judge(const std::string& engine, const BoundInputs& bound, const Trace& trace) {
  static ThreadPool threads(1);
  const auto verified = verify(*bound.graph, "", trace, threads);
  if (!verified.ok() || verified->verdict != Verdict::fault) return;
  for (const LayerVerdict& layer : verified->layers) {
    if (layer.verdict != Verdict::fault) continue;
    std::string text = engine + ": " + layer.node + " (" + layer.op + "), value " + layer.output +
                       ": fault; budget used " + std::to_string(layer.budget_used) + "; " + reason_of(layer);
    if (layer.worst)
      text += "; got " + std::to_string(layer.worst->got) + ", want " + std::to_string(layer.worst->want);
    fail(text);
  }
}

}  // namespace

DRIFTSCOPE_FUZZ_MODELS

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  limit_alive_tensors(alive_tensors().bytes + max_bytes, "the fuzzer");
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto model = read_onnx(bytes);
  if (!model.ok()) return 0;
  const auto graph = build_graph(*model);
  if (!graph.ok()) return 0;
  std::uint64_t seed = size;
  for (const std::byte byte : bytes) seed = seed * 1099511628211u + std::to_integer<std::uint64_t>(byte);
  auto inputs = seeded_inputs(*graph, seed % 1000);
  if (!inputs.ok()) return 0;
  Rng rng(seed);
  if (rng.below(3) == 0) make_awkward(*inputs, rng);
  const auto bound = bind_inputs(*graph, *inputs);
  if (!bound.ok() || !is_small(*bound->graph)) return 0;

  const Outcome strict = run("strict", *bound, Capture::all);
  const Outcome fast = run("fast", *bound, Capture::all);
  const Outcome fused = run("fast", *bound, Capture::outputs);
  for (const auto* outcome : {&strict, &fast, &fused})
    if (outcome->refused && outcome->refused->kind == ErrorKind::internal)
      fail("internal error: " + outcome->refused->message);
  for (const auto* outcome : {&fast, &fused}) {
    const auto& a = strict.refused;
    const auto& b = outcome->refused;
    if ((a && only_large(*a)) || (b && only_large(*b))) continue;
    if (a && outcome->trace) fail("fast runs what strict refuses: " + a->message);
    if (b && strict.trace) fail("strict runs what fast refuses: " + b->message);
  }
  if (strict.trace) judge("strict", *bound, *strict.trace);
  if (fast.trace) judge("fast", *bound, *fast.trace);
  if (fused.trace) judge("fast, fused", *bound, *fused.trace);
  return 0;
}
