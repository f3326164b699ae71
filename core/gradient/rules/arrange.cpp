// Operators that repeat, sum along or rearrange elements, and are undone by themselves or by their opposite.
#include <algorithm>

#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_arrange {
namespace {

// Copies lie along axes of their own: [r₀, n₀, r₁, n₁, …], summed over those of the repeats.
Status tile(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(const Ints repeats, at.constant_ints(1, "repeats"));
  if (repeats.size() != sizes.size()) return at.unsupported_form("with repeats of another rank");
  Ints apart, copies;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (repeats[i] != 1) {
      copies.push_back(std::ssize(apart));
      apart.push_back(repeats[i]);
    }
    apart.push_back(sizes[i].known() ? sizes[i].size : -1);
  }
  DRIFTSCOPE_TRY(apart, at.reshape_sizes(apart));
  at.add(0, copies.empty() ? at.dy() : emit.reduce("ReduceSum", emit.reshape(at.dy(), apart), copies, false));
  return {};
}

// An element counts in all later sums: summed from the other end.
Status cum_sum(NodeGradient& at) {
  DRIFTSCOPE_TRY(const std::int64_t exclusive, int_attribute(at.node(), "exclusive", 0));
  DRIFTSCOPE_TRY(const std::int64_t reverse, int_attribute(at.node(), "reverse", 0));
  at.add(0, at.emit().node("CumSum", {at.dy(), at.x(1)},
                           {{"exclusive", exclusive}, {"reverse", std::int64_t{reverse == 0 ? 1 : 0}}}));
  return {};
}

Status depth_to_space(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const std::int64_t block, int_attribute(at.node(), "blocksize", 1));
  DRIFTSCOPE_TRY(const std::string mode, string_attribute(at.node(), "mode", "DCR"));
  if (mode == "DCR") {
    at.add(0, emit.node("SpaceToDepth", {at.dy()}, {{"blocksize", block}}));
    return {};
  }
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  if (sizes.size() != 4) return at.unsupported_form("of another rank than 4");
  DRIFTSCOPE_TRY(const std::int64_t channels, at.size(at.input(0), 1));
  DRIFTSCOPE_TRY(const std::int64_t height, at.size(at.input(0), 2));
  DRIFTSCOPE_TRY(const std::int64_t width, at.size(at.input(0), 3));
  if (block < 1 || channels % (block * block) != 0) return at.unsupported_form("of this blocksize");
  // CRD: [N, C, b, b, H, W] became [N, C, H, b, W, b].
  const std::string apart =
      emit.reshape(at.dy(), {-1, channels / (block * block), height, block, width, block});
  at.add(0, emit.reshape(emit.transpose(apart, {0, 1, 3, 5, 2, 4}), {-1, channels, height, width}));
  return {};
}

Status space_to_depth(NodeGradient& at) {
  DRIFTSCOPE_TRY(const std::int64_t block, int_attribute(at.node(), "blocksize", 1));
  at.add(0, at.emit().node("DepthToSpace", {at.dy()}, {{"blocksize", block}, {"mode", std::string("DCR")}}));
  return {};
}

// With the same further inputs and attributes they undo themselves (ReverseSequence), or keep what they kept.
Status same_again(NodeGradient& at) {
  GradientEmitter::Names inputs = {at.dy()};
  for (std::size_t i = 1; i < at.node().inputs.size(); ++i) inputs.push_back(at.has_input(i) ? at.x(i) : "");
  at.add(0, at.emit().node(at.node().op_type, std::move(inputs),
                           {at.node().attributes.begin(), at.node().attributes.end()}));
  return {};
}

}  // namespace
}  // namespace gradient_arrange

namespace gradient_rules::arrange {

void add_to(GradientRuleTable& table) {
  namespace rules = gradient_arrange;
  table.add("Tile", rules::tile);
  table.add("CumSum", rules::cum_sum);
  table.add("DepthToSpace", rules::depth_to_space);
  table.add("SpaceToDepth", rules::space_to_depth);
  for (const char* op : {"ReverseSequence", "Trilu"}) table.add(op, rules::same_again);
}

}  // namespace gradient_rules::arrange

}  // namespace driftscope
