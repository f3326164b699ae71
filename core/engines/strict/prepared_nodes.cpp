#include "core/engines/strict/prepared_nodes.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "core/graph/load_constants.hpp"

namespace driftscope {
namespace {

// Results computed ahead are kept: at most this, and this many times the size of their inputs (the weights
// of 8 bits that become floats).
constexpr std::int64_t max_folded_bytes = 1 << 20;
constexpr std::int64_t max_growth = 8;

// Catches a kernel's failed allocations: they are not thrown further.
template <class Body>
auto within_memory(const Node& node, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return limit_error(node_label(node) + ": out of memory. A smaller batch or fewer threads need less.");
  } catch (const std::length_error&) {
    return limit_error(node_label(node) + ": it needs more memory than can exist");
  }
}

// Total size of all outputs; nothing if one is not known before the run.
std::optional<std::int64_t> output_bytes(const StrictSite& site) {
  std::int64_t total = 0;
  for (const ValueId id : site.node.outputs) {
    if (id == no_value) continue;
    const Value& value = site.graph.values[id];
    const auto shape = value.static_shape();
    if (!shape || value.dtype == DType::undefined) return std::nullopt;
    const auto bytes = tensor_byte_size(value.dtype, *shape);
    if (!bytes.ok()) return std::nullopt;
    total += *bytes;
  }
  return total;
}

// Kernels read constants on any thread, so these are loaded before, except the input `later`.
void read_deferred(const Graph& graph, const Node& node, std::optional<std::size_t> later = {}) {
  const ValueId left = later && *later < node.inputs.size() ? node.inputs[*later] : no_value;
  for (const ValueId id : node.reads())
    if (id != no_value && id != left && graph.values[id].constant) (void)graph.values[id].constant->bytes();
  for (const Subgraph& subgraph : node.subgraphs) load_constants(*subgraph.graph);
}

bool is_worth_folding(const StrictSite& site) {
  if (!site.node.subgraphs.empty()) return false;
  std::int64_t read = 0;
  for (std::size_t i = 0; i < site.node.inputs.size(); ++i) {
    if (!site.has_input(i)) continue;
    const Tensor* constant = site.constant(i);
    if (constant == nullptr) return false;
    read += static_cast<std::int64_t>(constant->byte_size());
  }
  const auto made = output_bytes(site);
  return made && *made <= std::max(max_folded_bytes, max_growth * read);
}

}  // namespace

Status PreparedNodes::prepare(Graph& graph) {
  std::vector<int> readers(graph.values.size());
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.reads())
      if (id != no_value) ++readers[id];
  for (const ValueId id : graph.outputs) ++readers[id];
  for (const Node& node : graph.nodes) {
    DRIFTSCOPE_CHECK(within_memory(node, [&]() -> Status {
      const auto packed = strict_kernels().find(node.domain, node.op_type).packed;
      read_deferred(graph, node, packed);
      DRIFTSCOPE_CHECK(prepare_deep(graph, node));
      const StrictKernel* kernel = kernel_of(node);
      if (packed && (kernel == nullptr || kernel->reads(*packed))) read_deferred(graph, node);
      return {};
    }));
    release_packed(graph, node, readers);
  }
  load_constants(graph);  // of outputs
  return {};
}

const StrictKernel* PreparedNodes::kernel_of(const Node& node) const {
  const auto found = nodes_.find(&node);
  return found == nodes_.end() ? nullptr : found->second.kernel.get();
}

Status PreparedNodes::prepare_inside(const Node& node) {
  for (const Subgraph& subgraph : node.subgraphs)
    for (const Node& inner : subgraph.graph->nodes) DRIFTSCOPE_CHECK(prepare_deep(*subgraph.graph, inner));
  return {};
}

Status PreparedNodes::prepare_deep(const Graph& graph, const Node& node) {
  DRIFTSCOPE_CHECK(prepare_inside(node));
  FoldedValues& folded = folded_[&graph];
  folded.resize(graph.values.size());
  return within_memory(node, [&] { return prepare_node({graph, node, simd_, threads_, folded}, folded); });
}

// Keeping a weight beside its packed copy would double its memory. An empty tensor replaces it, so that the
// value is still recognised as a constant.
void PreparedNodes::release_packed(Graph& graph, const Node& node, const std::vector<int>& readers) {
  const StrictKernel* kernel = kernel_of(node);
  if (kernel == nullptr) return;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (id == no_value || readers[id] != 1 || kernel->reads(i)) continue;
    if (auto& constant = graph.values[id].constant) constant = Tensor();
  }
}

Status PreparedNodes::prepare_node(const StrictSite& site, FoldedValues& folded) {
  Prepared prepared;
  prepared.kernel = strict::prepare_kernel(site);
  if (is_worth_folding(site)) DRIFTSCOPE_CHECK(fold(site, folded, prepared));
  if (prepared.kernel == nullptr && prepared.folded.empty()) return {};
  if (prepared.kernel) prepared.expected = strict::PreparedInputs(site);
  nodes_[&site.node] = std::move(prepared);
  return {};
}

// A node that cannot be computed fails when it runs, if it ever does.
Status PreparedNodes::fold(const StrictSite& site, FoldedValues& folded, Prepared& prepared) {
  if (!prepared.kernel) read_deferred(site.graph, site.node);
  std::vector<const Tensor*> inputs;
  for (std::size_t i = 0; i < site.node.inputs.size(); ++i)
    inputs.push_back(site.has_input(i) ? site.constant(i) : nullptr);
  auto outputs =
      prepared.kernel ? prepared.kernel->run(inputs) : evaluate_strict(site.node, inputs, threads_);
  if (!outputs.ok()) return {};
  prepared.kernel.reset();
  prepared.folded = *std::move(outputs);
  for (std::size_t i = 0; i < site.node.outputs.size(); ++i)
    if (site.node.outputs[i] != no_value) folded[site.node.outputs[i]] = prepared.folded[i];
  return {};
}

Result<std::vector<Tensor>> PreparedNodes::run(const Node& node, std::span<const Tensor* const> inputs) {
  return within_memory(node, [&]() -> Result<std::vector<Tensor>> {
    const auto found = nodes_.find(&node);
    if (found == nodes_.end()) return evaluate_strict(node, inputs, threads_, this);
    Prepared& prepared = found->second;
    if (!prepared.folded.empty()) return prepared.folded;
    auto outputs = strict::run_prepared(*prepared.kernel, prepared.expected, node, inputs,
                                        [&] { return evaluate_strict(node, inputs, threads_, this); });
    if (!outputs) return in_context(std::move(outputs).error(), node_label(node));
    return outputs;
  });
}

bool PreparedNodes::is_fast(const Node& node) const { return nodes_.contains(&node); }

}  // namespace driftscope
