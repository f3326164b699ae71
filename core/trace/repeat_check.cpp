// Compiled for size on the web (cmake/core.cmake).
#include "core/trace/repeat_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/constant_nodes.hpp"
#include "core/trace/run_fact.hpp"
#include "generated/documents/repeats.hpp"

namespace driftscope {
namespace {

// splitmix64's finish: values are added up, so that their order does not matter.
std::uint64_t scrambled(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// Why two values cannot be compared element by element; empty: they can.
std::string other_kind(const TensorDigest& first, const TensorDigest& now) {
  if (first.dtype != now.dtype)
    return fmt::format("{} in the first run, {} in this one", dtype_name(first.dtype), dtype_name(now.dtype));
  if (first.shape != now.shape)
    return fmt::format("{} in the first run, {} in this one", shape_text(first.shape), shape_text(now.shape));
  return {};
}

}  // namespace

RunComparer::RunComparer(const Graph& graph)
    : graph_(graph),
      rank_(graph.values.size(), 0),
      constant_(constant_nodes(graph)),
      first_(graph.values.size()),
      given_(graph.values.size()) {
  std::size_t rank = 1;  // inputs come first, all with 0
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.outputs)
      if (id != no_value) rank_[id] = rank++;
}

void RunComparer::begin_run() {
  ++run_;
  run_digest_ = 0;
  current_.reset();
  given_.assign(given_.size(), false);
}

void RunComparer::differs(ValueId id, bool zero_signs, std::string reason, const Tensor* tensor) {
  const std::int64_t values = (current_ ? current_->difference.values : 0) + 1;
  const bool first = !current_ || (current_->difference.zero_signs && !zero_signs) ||
                     (current_->difference.zero_signs == zero_signs && rank_[id] < current_->rank);
  if (first) {
    const Value& value = graph_.values[id];
    RunDifference difference{.run = run_, .value = value.name, .node = {}, .op = {}};
    if (value.producer != no_node) {
      difference.node = graph_.nodes[value.producer].name;
      difference.op = graph_.nodes[value.producer].op_type;
    }
    difference.zero_signs = zero_signs;
    difference.reason = std::move(reason);
    current_ = Found{std::move(difference), rank_[id],
                     tensor != nullptr ? std::optional<Tensor>(*tensor) : std::nullopt};
  }
  current_->difference.values = values;
}

void RunComparer::value(ValueId id, const Tensor& tensor) {
  TensorDigest digest = digest_of(tensor);
  const ValueId producer = graph_.values[id].producer;
  const bool constant = producer != no_node && constant_[producer];
  // Engines need not compute constants again: their absence is not a difference, nor part of the sum.
  if (!constant) run_digest_ += scrambled(digest.bits + scrambled(id + 1));
  given_[id] = true;
  std::optional<TensorDigest>& first = first_[id];
  if (run_ == 1) {
    if (!first) ++values_;
    first = std::move(digest);
  } else if (!first) {
    if (!constant) differs(id, false, "the first run did not produce it", nullptr);
  } else if (*first != digest) {
    differs(id, first->same_numbers(digest), other_kind(*first, digest), &tensor);
  }
}

void RunComparer::end_run() {
  if (run_ > 1)
    for (ValueId id = 0; id < first_.size(); ++id) {
      const NodeId producer = graph_.values[id].producer;
      if (first_[id] && !given_[id] && (producer == no_node || !constant_[producer]))
        differs(id, false, "this run did not produce it", nullptr);
    }
  add_to_groups();
  if (!current_) return;
  if (!first_different_)
    first_different_ = std::move(current_);
  else
    last_different_ = std::move(current_);
  current_.reset();
}

void RunComparer::add_to_groups() {
  const auto known = std::ranges::find(group_digests_, run_digest_);
  if (known != group_digests_.end()) {
    AgreeingRuns& group = groups_[static_cast<std::size_t>(known - group_digests_.begin())];
    group.last = run_;
    ++group.runs;
  } else if (groups_.size() < RepeatCheck::max_groups) {
    group_digests_.push_back(run_digest_);
    groups_.push_back({run_, run_, 1});
  } else {
    ++more_groups_;
  }
}

RepeatCheck RunComparer::result() const {
  RepeatCheck check{run_, values_, groups_, more_groups_};
  for (const auto* found : {&first_different_, &last_different_})
    if (*found) check.different.push_back((*found)->difference);
  return check;
}

std::vector<LaterValue> RunComparer::take_values() {
  std::vector<LaterValue> values;
  for (auto* found : {&first_different_, &last_different_})
    if (*found && (*found)->tensor)
      values.push_back(
          {(*found)->difference.run, {(*found)->difference.value, *std::move((*found)->tensor)}});
  return values;
}

nlohmann::ordered_json repeat_check_json(const RepeatCheck& check) { return encode(check); }

std::optional<RepeatCheck> repeat_check_of(const Trace& about) {
  auto check = run_fact<RepeatCheck>(about, "repeat_check");
  if (!check) return check;
  check->groups.resize(std::min(check->groups.size(), RepeatCheck::max_groups));
  check->different.resize(std::min<std::size_t>(check->different.size(), 2));
  return check;
}

std::string later_value_name(std::int64_t run, const std::string& value) {
  return fmt::format("driftscope.run{}/{}", run, value);
}

}  // namespace driftscope
