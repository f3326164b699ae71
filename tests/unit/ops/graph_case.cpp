#include "unit/ops/graph_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "core/base/float_bits.hpp"
#include "core/eval/integers.hpp"

namespace driftscope::test {
namespace {

const Tensor* find(std::span<const NamedTensor> tensors, const std::string& name) {
  for (const NamedTensor& entry : tensors)
    if (entry.name == name) return &entry.tensor;
  return nullptr;
}

// The tensors that exist before any node runs.
Result<std::vector<const Tensor*>> known_tensors(const Graph& graph, std::span<const NamedTensor> inputs) {
  std::vector<const Tensor*> known(graph.values.size(), nullptr);
  for (std::size_t i = 0; i < graph.values.size(); ++i)
    if (graph.values[i].constant) known[i] = &*graph.values[i].constant;
  for (const ValueId id : graph.inputs) {
    known[id] = find(inputs, graph.values[id].name);
    if (known[id] == nullptr) return bad_input(fmt::format("input {} is not given", graph.values[id].name));
  }
  return known;
}

bool agree(double got, double value, double bound) {
  if (std::isnan(got) || std::isnan(value)) return std::isnan(got) && std::isnan(value);
  // Values beyond the float range become infinite.
  const double held = std::numeric_limits<float>::max();
  if (std::isinf(got) && std::signbit(got) == std::signbit(value) && std::fabs(value) + bound > held)
    return true;
  if (std::isinf(got) || std::isinf(value)) return got == value || std::isinf(bound);
  return std::fabs(got - value) <= bound;
}

// The error of storing a result in a type of this precision.
double storage_error(DType dtype, double value) {
  if (dtype == DType::float64) return std::fabs(value) * 0x1p-50;
  if (dtype == DType::float16) return half_ulp_f32(value) * 0x1p13;
  if (dtype == DType::bfloat16) return half_ulp_f32(value) * 0x1p16;
  return half_ulp_f32(value);
}

void check_floats(const std::string& output, const Tensor& wanted, const Tensor& lowered,
                  const Evaluated<Bounded>& bounded, const Tensor& strict, double tolerance,
                  double wanted_error, std::vector<std::string>& problems) {
  const std::vector<double> want = as_doubles(wanted);
  const std::vector<double> got = as_doubles(lowered);
  const std::vector<double> fast = as_doubles(strict);
  double largest = 0.0;
  for (const double x : want)
    if (std::isfinite(x)) largest = std::fmax(largest, std::fabs(x));
  // The strict kernel works in float32 whatever the tensor's type.
  const bool wide = wanted.dtype() == DType::float64;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const Bounded& b = bounded.real[i];
    const double stored = storage_error(wanted.dtype(), b.value);
    const double narrow = wide ? half_ulp_f32(b.value) * 4 + b.worst : stored * 0.0;
    const auto report = [&](std::string_view who, double x, std::string_view bound_name, double bound) {
      problems.push_back(
          fmt::format("output {} element {}: {} is {:.9g}, the reference {:.17g}, {} {:.3g}, wanted {:.9g}",
                      output, i, who, x, b.value, bound_name, bound, want[i]));
    };
    const double sane =
        std::fmax(1e-4, tolerance) * std::fabs(want[i]) + 1e-5 * largest + stored + wanted_error;
    if (!agree(got[i], want[i], sane)) report("double", got[i], "tolerance", sane);
    if (tolerance == 0.0 && !agree(want[i], b.value, b.worst + stored + wanted_error))
      report("wanted", want[i], "worst", b.worst);
    const double half = wanted.dtype() == DType::float32 ? 0.0 : stored;
    const double exact = b.worst == 0.0 ? stored : half;
    if (!agree(fast[i], b.value, b.worst + exact + narrow))
      report("strict", fast[i], "worst", b.worst);
    else if (!agree(fast[i], b.value, b.likely + exact + narrow))
      report("strict", fast[i], "likely", b.likely);
    if (b.likely > b.worst) report("strict", fast[i], "likely above worst by", b.likely - b.worst);
    if (problems.size() > 5) return;
  }
}

// Equal bytes, unless an element has bounds: then both must lie within them.
bool same_integers(const Tensor& got, const Tensor& want, const std::vector<Bounded>& bounds) {
  if (std::ranges::equal(got.bytes(), want.bytes())) return true;
  const std::vector<double> a = as_doubles(got);
  const std::vector<double> b = as_doubles(want);
  if (bounds.empty() || a.size() != bounds.size()) return false;
  for (std::size_t i = 0; i < bounds.size(); ++i)
    if (std::fabs(a[i] - bounds[i].value) > bounds[i].worst ||
        std::fabs(b[i] - bounds[i].value) > bounds[i].worst)
      return false;
  return true;
}

}  // namespace

template <class S>
Result<std::vector<Evaluated<S>>> run_graph(const Graph& graph, std::span<const NamedTensor> inputs,
                                            ThreadPool& threads) {
  DRIFTSCOPE_TRY(const auto known, known_tensors(graph, inputs));
  std::vector<Evaluated<S>> values(graph.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (known[i] == nullptr) continue;
    DRIFTSCOPE_TRY(values[i], lift<S>(*known[i]));
  }
  for (const Node& node : graph.nodes) {
    std::vector<const Evaluated<S>*> operands;
    for (const ValueId id : node.reads()) operands.push_back(id == no_value ? nullptr : &values[id]);
    DRIFTSCOPE_TRY(auto results, evaluate<S>(node, operands, threads));
    for (std::size_t o = 0; o < results.size(); ++o)
      if (node.outputs[o] != no_value) values[node.outputs[o]] = std::move(results[o]);
  }
  return values;
}
template Result<std::vector<Evaluated<double>>> run_graph<double>(const Graph&, std::span<const NamedTensor>,
                                                                  ThreadPool&);
template Result<std::vector<Evaluated<Bounded>>> run_graph<Bounded>(const Graph&,
                                                                    std::span<const NamedTensor>,
                                                                    ThreadPool&);

Result<std::vector<Tensor>> run_graph_strict(const Graph& graph, std::span<const NamedTensor> inputs,
                                             ThreadPool& threads) {
  DRIFTSCOPE_TRY(const auto known, known_tensors(graph, inputs));
  std::vector<Tensor> values(graph.values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (known[i] != nullptr) values[i] = *known[i];
  for (const Node& node : graph.nodes) {
    std::vector<const Tensor*> operands;
    for (const ValueId id : node.reads()) operands.push_back(id == no_value ? nullptr : &values[id]);
    DRIFTSCOPE_TRY(auto results, evaluate_strict(node, operands, threads));
    for (std::size_t o = 0; o < results.size(); ++o)
      if (node.outputs[o] != no_value) values[node.outputs[o]] = std::move(results[o]);
  }
  return values;
}

Result<std::vector<std::string>> check_case(const GraphCase& c, ThreadPool& threads) {
  DRIFTSCOPE_TRY(const auto doubles, run_graph<double>(c.graph, c.inputs, threads));
  DRIFTSCOPE_TRY(const auto bounded, run_graph<Bounded>(c.graph, c.inputs, threads));
  DRIFTSCOPE_TRY(const auto strict, run_graph_strict(c.graph, c.inputs, threads));
  std::vector<std::string> problems;
  for (const NamedTensor& entry : c.wanted) {
    const auto id = c.graph.find_value(entry.name);
    if (!id) return bad_input(fmt::format("the graph has no value {}", entry.name));
    DRIFTSCOPE_TRY(const Tensor lowered, lower(doubles[*id]));
    const Tensor& want = entry.tensor;
    bool comparable = true;
    for (const Tensor* got : {&lowered, &strict[*id]})
      if (got->dtype() != want.dtype() || got->shape() != want.shape()) {
        problems.push_back(fmt::format("output {}: {} {}, wanted {} {}", entry.name, dtype_name(got->dtype()),
                                       shape_text(got->shape()), dtype_name(want.dtype()),
                                       shape_text(want.shape())));
        comparable = false;
      }
    if (!comparable) continue;
    if (is_floating(want.dtype())) {
      check_floats(entry.name, want, lowered, bounded[*id], strict[*id], c.tolerance, c.wanted_error,
                   problems);
      continue;
    }
    for (const Tensor* got : {&lowered, &bounded[*id].tensor, &strict[*id]})
      if (!same_integers(*got, want, bounded[*id].real))
        problems.push_back(fmt::format("output {}: other bytes than wanted", entry.name));
  }
  if (c.wanted.empty()) problems.push_back("nothing was compared");
  return problems;
}

Result<std::vector<Tensor>> strict_outputs(const Graph& graph, std::span<const NamedTensor> inputs) {
  ThreadPool threads(1);
  DRIFTSCOPE_TRY(const auto values, run_graph_strict(graph, inputs, threads));
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(values[id]);
  return outputs;
}

std::vector<double> as_doubles(const Tensor& tensor) {
  if (is_floating(tensor.dtype())) {
    const auto lifted = lift<double>(tensor);
    return lifted.ok() ? lifted->real : std::vector<double>();
  }
  std::vector<double> result;
  const auto append = [&](auto values) {
    for (const auto x : values) result.push_back(static_cast<double>(x));
  };
  if (tensor.dtype() == DType::boolean)
    append(tensor.values<std::uint8_t>());
  else
    with_integer(tensor.dtype(), [&]<class T>() { append(tensor.values<T>()); });
  return result;
}

Result<std::vector<std::byte>> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return io_error(fmt::format("{}: cannot be opened", path));
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(text.size());
  if (!bytes.empty()) std::memcpy(bytes.data(), text.data(), bytes.size());
  return bytes;
}

}  // namespace driftscope::test
