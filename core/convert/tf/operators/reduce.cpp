// Reduce…: TensorFlow's reductions, and what is composed of them; GlobalAveragePool and GlobalMaxPool.
#include <fmt/format.h>

#include <limits>
#include <map>

#include "core/convert/tf/lowering.hpp"
#include "core/ops/shared/reduction.hpp"

namespace driftscope::tf::operators::reduce {
namespace {

struct Axes {
  std::vector<std::size_t> ours;
  bool keep = true;
  bool none = false;  ///< "noop_with_empty_axes": the input itself
};

Result<Axes> axes_of(const Lowering& lowering, const OnnxNode& node) {
  const std::size_t rank = lowering.rank(node.inputs[0]);
  Axes axes;
  if (node.op_type.starts_with("Global")) {
    for (std::size_t axis = 2; axis < rank; ++axis) axes.ours.push_back(axis);
    return axes;
  }
  const bool as_input = node.opset >= (node.op_type == "ReduceSum" ? 13 : 18);
  const bool given = as_input && Lowering::has_input(node, 1);
  const Tensor* known = nullptr;
  if (given) {
    DRIFTSCOPE_TRY(known, lowering.known(node, 1, "axes"));
  }
  DRIFTSCOPE_TRY(const auto read, read_axes(node, known, given, as_input, rank));
  DRIFTSCOPE_TRY(axes.keep, flag_attribute(node, "keepdims", true));
  bool nothing = false;
  if (as_input) {
    DRIFTSCOPE_TRY(nothing, flag_attribute(node, "noop_with_empty_axes", false));
  }
  axes.ours = *read;
  axes.none = axes.ours.empty() && nothing;
  if (axes.ours.empty() && !nothing)
    for (std::size_t axis = 0; axis < rank; ++axis) axes.ours.push_back(axis);
  return axes;
}

class Reduction {
 public:
  Reduction(Lowering& lowering, const OnnxNode& node) : lowering_(lowering), node_(node) {}

  Status run() {
    DRIFTSCOPE_TRY(axes_, axes_of(lowering_, node_));
    const ValueId x = node_.inputs[0];
    order_ = axes_.keep ? lowering_.order(x) : Order();
    DRIFTSCOPE_TRY(tensor_, lowering_.read(x, order_));
    if (axes_.none) return lowering_.give_same(node_.outputs[0], tensor_, order_);
    const DType dtype = lowering_.info(tensor_).dtype;
    const std::string_view type = node_.op_type;
    if (type == "GlobalAveragePool") return give("Mean", tensor_);
    if (type == "GlobalMaxPool") return give("Max", tensor_);
    if (type == "ReduceSum") return give("Sum", tensor_);
    if (type == "ReduceProd") return give("Prod", tensor_);
    if (dtype == DType::boolean) {
      if (type == "ReduceMax") return give("Any", tensor_);
      if (type == "ReduceMin") return give("All", tensor_);
    }
    if (type == "ReduceMax") return give("Max", tensor_);
    if (type == "ReduceMin") return give("Min", tensor_);
    if (type == "ReduceL1") return give("Sum", lowering_.elementwise("sizes", "Abs", {tensor_}));
    if (type == "ReduceSumSquare") return give("Sum", lowering_.elementwise("squares", "Square", {tensor_}));
    if (dtype != DType::float32)
      return unsupported(fmt::format("{} of {} has no equivalent", type, dtype_name(lowering_.dtype(x))));
    if (type == "ReduceMean") return give("Mean", tensor_);
    if (type == "ReduceL2")
      return of_reduced("Sqrt", "Sum", lowering_.elementwise("squares", "Square", {tensor_}));
    if (type == "ReduceLogSum") return of_reduced("Log", "Sum", tensor_);
    return log_sum_exp();
  }

 private:
  [[nodiscard]] std::vector<std::int64_t> places() const {
    std::vector<std::int64_t> result;
    for (const std::size_t axis : axes_.ours)
      result.push_back(static_cast<std::int64_t>(place_of_axis(axis, order_)));
    return result;
  }

  Result<std::string> make(std::string_view suffix, std::string_view op, const std::string& tensor,
                           bool keep) {
    DRIFTSCOPE_TRY(const std::string axes, lowering_.ints(places(), "axes"));
    TensorInfo info = lowering_.info(tensor);
    for (const std::int64_t place : places()) info.shape[static_cast<std::size_t>(place)] = keep ? 1 : -1;
    std::erase(info.shape, -1);
    return lowering_.make(suffix, op, {tensor, axes}, {{"keep_dims", keep}}, std::move(info));
  }

  Status give(std::string_view op, const std::string& tensor) {
    DRIFTSCOPE_TRY(const std::string axes, lowering_.ints(places(), "axes"));
    if (axes_.ours.empty()) return lowering_.give_same(node_.outputs[0], tensor, order_);
    return lowering_.give(node_.outputs[0], op, {tensor, axes}, {{"keep_dims", axes_.keep}}, order_);
  }

  Status of_reduced(std::string_view outer, std::string_view op, const std::string& tensor) {
    std::string reduced = tensor;
    if (!axes_.ours.empty()) {
      DRIFTSCOPE_TRY(reduced, make("reduced", op, tensor, axes_.keep));
    }
    return lowering_.give(node_.outputs[0], outer, {reduced}, {}, order_);
  }

  // The largest element is taken out of the sum, as TensorFlow does, unless it is infinite.
  Status log_sum_exp() {
    if (axes_.ours.empty()) return lowering_.give_same(node_.outputs[0], tensor_, order_);
    DRIFTSCOPE_TRY(const std::string max, make("largest", "Max", tensor_, true));
    const std::string size = lowering_.elementwise("size", "Abs", {max});
    const std::string finite = lowering_.elementwise(
        "is_finite", "LessEqual",
        {size, lowering_.number(static_cast<double>(std::numeric_limits<float>::max()))}, DType::boolean);
    const std::string largest =
        lowering_.elementwise("shift", "SelectV2", {finite, max, lowering_.number(0)}, DType::float32);
    const std::string below = lowering_.elementwise("below_largest", "Sub", {tensor_, largest});
    const std::string powers = lowering_.elementwise("powers", "Exp", {below});
    DRIFTSCOPE_TRY(const std::string sum, make("sum", "Sum", powers, true));
    const std::string log = lowering_.elementwise("log", "Log", {sum});
    if (axes_.keep) return lowering_.give(node_.outputs[0], "AddV2", {log, largest}, {}, order_);
    return lowering_.give_reshaped(node_.outputs[0],
                                   lowering_.elementwise("with_axes", "AddV2", {log, largest}));
  }

  Lowering& lowering_;
  const OnnxNode& node_;
  Axes axes_;
  Order order_;
  std::string tensor_;
};

Status lower(Lowering& lowering, const OnnxNode& node) { return Reduction(lowering, node).run(); }

}  // namespace

void add_to(OperatorTable& table) {
  for (const std::string_view name :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"})
    table.add(name, lower, Prefers::any);
  table.add("GlobalAveragePool", lower, Prefers::channels_last);
  table.add("GlobalMaxPool", lower, Prefers::channels_last);
}

}  // namespace driftscope::tf::operators::reduce
