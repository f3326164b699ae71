// GFLOP/s of the strict engine: matrix products and the convolutions of ResNet-20, each as a graph
// of one node with constant weights. Built natively and as WebAssembly.
//   driftscope_bench_strict [--threads N] [--simd BITS] [--seconds S]
// The median and the best of repeated runs, and the best as a share of the peak without fused
// operations (threads times that of one). Not part of the tests.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/rng.hpp"
#include "core/engines/strict/session.hpp"
#include "core/eval/infer_shapes.hpp"
#include "tests/bench/peak.hpp"

namespace {

using namespace driftscope;

struct Settings {
  int threads = 1;
  int simd = 0;
  double seconds = 2.0;  // per case
};

Tensor random(Rng& rng, Shape shape) {
  Tensor tensor = *Tensor::make(DType::float32, std::move(shape));
  for (float& x : tensor.mutable_values<float>()) x = rng.uniform(-1.0f, 1.0f);
  return tensor;
}

struct Case {
  std::string name;
  std::string op_type;
  Shape x;
  Shape w;
  std::vector<Attribute> attributes;
  double operations;  // two per product
  int in_resnet20;    // how many layers of ResNet-20 are like this
};

Graph graph_of(const Case& one, Rng& rng) {
  Graph graph;
  Value input;
  input.name = "x";
  input.dtype = DType::float32;
  input.shape.emplace();
  for (const std::int64_t size : one.x) input.shape->push_back({size, ""});
  Value weights;
  weights.name = "w";
  weights.constant = random(rng, one.w);
  weights.dtype = DType::float32;
  weights.shape.emplace();
  for (const std::int64_t size : one.w) weights.shape->push_back({size, ""});
  Value output;
  output.name = "y";
  output.producer = 0;
  graph.values = {input, weights, output};
  graph.inputs = {0};
  graph.outputs = {2};
  Node node;
  node.name = one.name;
  node.op_type = one.op_type;
  node.opset = 21;
  node.inputs = {0, 1};
  node.outputs = {2};
  node.attributes = one.attributes;
  graph.nodes = {node};
  return *infer_shapes(std::move(graph));
}

// Seconds of single runs until the time is up; at least five. The first few, in which a browser's
// engine still compiles, are left out.
std::vector<double> measure(Session& session, const Tensor& input, double seconds) {
  const auto once = [&] {
    const std::int64_t begin = monotonic_ns();
    if (!run_to_end(session, {input}, no_trace_sink()).ok()) std::exit(1);
    return static_cast<double>(monotonic_ns() - begin) * 1e-9;
  };
  for (int i = 0; i < 3; ++i) (void)once();
  std::vector<double> times;
  double total = 0.0;
  while (times.size() < 5 || total < seconds) {
    times.push_back(once());
    total += times.back();
  }
  std::sort(times.begin(), times.end());
  return times;
}

// Returns the best time in seconds.
double run_case(const Case& one, const SimdTarget& simd, const Settings& settings, double peak) {
  Rng rng(1);
  const auto graph = std::make_shared<const Graph>(graph_of(one, rng));
  StrictSession session(graph, simd, settings.threads, {});
  if (!session.prepare().ok()) std::exit(1);
  const auto times = measure(session, random(rng, one.x), settings.seconds);
  const double median = one.operations / times[times.size() / 2] * 1e-9;
  const double best = one.operations / times.front() * 1e-9;
  fmt::print(
      "  {:30} median {:7.1f}  best {:7.1f} GFLOP/s  {:5.1f} % of peak  "
      "({} runs, {:.3f} ms)\n",
      one.name, median, best, 100.0 * best / peak, times.size(), times.front() * 1e3);
  return times.front();
}

Case product(std::int64_t n) {
  return {fmt::format("product {0}x{0}x{0}", n), "MatMul", {n, n}, {n, n}, {},
          2.0 * static_cast<double>(n * n * n),  0};
}

Case conv(std::int64_t channels, std::int64_t size, std::int64_t outputs, std::int64_t stride,
          int in_resnet20) {
  const std::vector<std::int64_t> pads(4, 1);
  const std::int64_t out = (size - 1) / stride + 1;
  return {fmt::format("conv {}x{}x{} to {}, 3x3/{}", channels, size, size, outputs, stride),
          "Conv",
          {1, channels, size, size},
          {outputs, channels, 3, 3},
          {{"pads", pads}, {"strides", std::vector<std::int64_t>(2, stride)}},
          2.0 * static_cast<double>(out * out * outputs * channels * 9),
          in_resnet20};
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--threads") settings.threads = std::max(1, std::atoi(argv[i + 1]));
    if (option == "--simd") settings.simd = std::atoi(argv[i + 1]);
    if (option == "--seconds") settings.seconds = std::atof(argv[i + 1]);
  }
  std::vector<SimdTarget> targets = simd_targets();
  if (settings.simd != 0) {
    const auto chosen = choose_simd(settings.simd);
    if (!chosen.ok()) {
      fmt::print(stderr, "{}\n", chosen.error().message);
      return 2;
    }
    targets = {*chosen};
  }
  for (const SimdTarget& simd : targets) {
    const double peak = peak_gflops(simd) * settings.threads;
    fmt::print("{} on {}, {} threads, peak without fused operations {:.1f} GFLOP/s\n", simd.name,
               platform_name(), settings.threads, peak);
    double operations = 0.0;
    double seconds = 0.0;
    for (const Case& one :
         {product(256), product(512), product(1024), conv(3, 32, 16, 1, 1), conv(16, 32, 16, 1, 6),
          conv(16, 32, 32, 2, 1), conv(32, 16, 32, 1, 5), conv(32, 16, 64, 2, 1), conv(64, 8, 64, 1, 5)}) {
      seconds += one.in_resnet20 * run_case(one, simd, settings, peak);
      operations += one.in_resnet20 * one.operations;
    }
    fmt::print("  {:30} best {:.1f} GFLOP/s, {:.3f} ms\n", "3x3 convolutions of ResNet-20",
               operations / seconds * 1e-9, seconds * 1e3);
  }
  return 0;
}
