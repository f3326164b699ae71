// Compiled for size on the web (cmake/core.cmake).
#include "core/trace/subgraph_recording.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace driftscope {
namespace {

constexpr std::int64_t first_iterations = 8;
// Iterations of one loop beyond these bytes are not kept, except the last.
constexpr std::int64_t max_loop_bytes = std::int64_t{256} << 20;

bool is_sampled(std::int64_t iteration) {
  return iteration < first_iterations || std::has_single_bit(static_cast<std::uint64_t>(iteration));
}

}  // namespace

void SubgraphRecording::begin_run() {
  first_run_ = !began_;
  began_ = true;
  levels_.clear();
  depth_ = 0;
}

std::string SubgraphRecording::place_of(const Node& node) const {
  return (depth_ == 0 ? "" : levels_[depth_ - 1].scope) + node.name;
}

void SubgraphRecording::enter(const Node& owner, const Subgraph& subgraph, std::int64_t iteration) {
  if (levels_.size() == depth_) {
    Level level{place_of(owner), std::string(branch_of(subgraph.attribute))};
    level.first_carried = own_body_inputs(owner);
    level.end_carried = level.first_carried + carried_values(owner);
    levels_.push_back(std::move(level));
  }
  Level& level = levels_[depth_++];
  level.iteration = iteration;
  level.kept = {};
  if (level.branch.empty()) {
    level.scope = iteration_scope(level.owner, iteration);
    level.sampled = is_sampled(iteration) && level.bytes < max_loop_bytes;
    level.shows_inputs = iteration > 0 && (level.recorded.empty() || level.recorded.back() != iteration - 1);
  } else {
    level.scope = branch_scope(level.owner, level.branch);
  }
}

void SubgraphRecording::leave() {
  Level& level = levels_[--depth_];
  if (level.branch.empty() && level.sampled) level.recorded.push_back(level.iteration);
}

void SubgraphRecording::finished(const Node& owner, std::int64_t ran) {
  if (ran == 0) return keep(ControlFlowRecord{place_of(owner), "", 0, {}});
  if (levels_.size() != depth_ + 1) return;
  Level level = std::move(levels_.back());
  levels_.pop_back();
  if (!level.sampled) {
    level.recorded.push_back(level.iteration);
    for (ControlFlowRecord& record : level.kept.control_flow) keep(std::move(record));
    for (NodeRecord& record : level.kept.nodes) keep(std::move(record));
    for (NamedTensor& named : level.kept.tensors)
      if (const Status kept = keep(std::move(named)); !kept.ok() && status_.ok()) status_ = kept;
  }
  const bool loop = level.branch.empty();
  keep(ControlFlowRecord{std::move(level.owner), std::move(level.branch), loop ? ran : 0,
                         loop ? std::move(level.recorded) : std::vector<std::int64_t>()});
}

bool SubgraphRecording::wants(const Graph& inside, ValueId value) const {
  if (!first_run_) return false;
  const Level& level = levels_[depth_ - 1];
  if (inside.values[value].producer == no_node) {
    const auto place =
        static_cast<std::size_t>(std::ranges::find(inside.inputs, value) - inside.inputs.begin());
    return level.shows_inputs && place >= level.first_carried && place < level.end_carried;
  }
  return receiver_.wants(level.scope + inside.values[value].name);
}

SubgraphRecording::Kept* SubgraphRecording::pending() {
  for (std::size_t i = depth_; i-- > 0;)
    if (!levels_[i].sampled) return &levels_[i].kept;
  return nullptr;
}

Status SubgraphRecording::value(const Graph& inside, ValueId value, const Tensor& tensor) {
  for (std::size_t i = 0; i < depth_; ++i) levels_[i].bytes += static_cast<std::int64_t>(tensor.byte_size());
  return keep(NamedTensor{levels_[depth_ - 1].scope + inside.values[value].name, tensor});
}

Status SubgraphRecording::keep(NamedTensor named) {
  if (Kept* const later = pending()) {
    later->tensors.push_back(std::move(named));
    return {};
  }
  return receiver_.value(named.name, named.tensor);
}

void SubgraphRecording::node_done(const Graph& inside, NodeId node, std::optional<std::int64_t> time_ns) {
  const Node& one = inside.nodes[node];
  const Level& level = levels_[depth_ - 1];
  NodeRecord record{level.scope + one.name, one.op_type, {}, {}, false, level.owner};
  if (time_ns) record.time_ns.push_back(*time_ns);
  for (const ValueId output : one.outputs)
    if (output != no_value) record.outputs.push_back(level.scope + inside.values[output].name);
  keep(std::move(record));
}

void SubgraphRecording::keep(NodeRecord record) {
  if (Kept* const later = pending()) return later->nodes.push_back(std::move(record));
  const auto [place, added] = places_.emplace(record.name, nodes_.size());
  if (!added)
    nodes_[place->second].time_ns.insert(nodes_[place->second].time_ns.end(), record.time_ns.begin(),
                                         record.time_ns.end());
  else
    nodes_.push_back(std::move(record));
}

void SubgraphRecording::keep(ControlFlowRecord record) {
  if (!first_run_) return;
  if (Kept* const later = pending()) return later->control_flow.push_back(std::move(record));
  control_flow_.push_back(std::move(record));
}

}  // namespace driftscope
