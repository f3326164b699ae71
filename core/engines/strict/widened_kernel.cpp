#include "core/engines/strict/widened_kernel.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "core/model/element.hpp"
#include "core/numerics/simd/half.hpp"

namespace driftscope::strict {
namespace {

constexpr std::int64_t elements_per_task = 1 << 15;

SmallFloat format_of(DType dtype) { return dtype == DType::float16 ? float16_format : bfloat16_format; }

Result<Tensor> widened(const Tensor& tensor, ThreadPool& threads) {
  DRIFTSCOPE_TRY(Tensor wide, Tensor::unwritten(DType::float32, tensor.shape()));
  const auto from = tensor.values<std::uint16_t>();
  const auto to = wide.mutable_values<float>();
  threads.parallel_for(tensor.elements(), elements_per_task, [&](std::int64_t begin, std::int64_t end) {
    const auto first = static_cast<std::size_t>(begin);
    const auto count = static_cast<std::size_t>(end - begin);
    widen(format_of(tensor.dtype()), from.subspan(first, count), to.subspan(first, count));
  });
  return wide;
}

Result<Tensor> narrowed(const Tensor& tensor, DType dtype, ThreadPool& threads) {
  DRIFTSCOPE_TRY(Tensor small, Tensor::unwritten(dtype, tensor.shape()));
  const auto from = tensor.values<float>();
  const auto to = small.mutable_values<std::uint16_t>();
  threads.parallel_for(tensor.elements(), elements_per_task, [&](std::int64_t begin, std::int64_t end) {
    const auto first = static_cast<std::size_t>(begin);
    const auto count = static_cast<std::size_t>(end - begin);
    narrow(format_of(dtype), from.subspan(first, count), to.subspan(first, count));
  });
  return small;
}

class WidenedKernel final : public StrictKernel {
 public:
  // The graph is the node alone: value i is its input i, outputs follow.
  explicit WidenedKernel(const StrictSite& site) : threads_(site.threads) {
    Node node = site.node;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) node.inputs[i] = add_value(site, node.inputs[i]);
    for (const ValueId id : node.outputs) output_types_.push_back(type_of(site, id));
    for (ValueId& id : node.outputs) id = add_value(site, id);
    graph_.nodes.push_back(std::move(node));
  }

  [[nodiscard]] Status prepare(const StrictSite& site, PrepareStrictKernel make) {
    const Node& node = graph_.nodes[0];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Tensor* const constant = site.has_input(i) ? site.constant(i) : nullptr;
      if (constant == nullptr) continue;
      if (is_narrow_floating(constant->dtype())) {
        DRIFTSCOPE_TRY(graph_.values[node.inputs[i]].constant, widened(*constant, threads_));
      } else {
        graph_.values[node.inputs[i]].constant = *constant;
      }
    }
    kernel_ = make({graph_, node, site.simd, threads_, nothing_folded_, stored_type()});
    if (kernel_ == nullptr) return {};
    for (std::size_t i = 0; i < node.inputs.size(); ++i)  // packed: see PreparedNodes::release_packed
      if (node.inputs[i] != no_value && !kernel_->reads(i) && graph_.values[node.inputs[i]].constant)
        graph_.values[node.inputs[i]].constant = Tensor();
    return {};
  }

  [[nodiscard]] bool supports() const { return kernel_ != nullptr; }

  [[nodiscard]] bool reads(std::size_t input) const override { return kernel_->reads(input); }

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    const Node& node = graph_.nodes[0];
    std::vector<const Tensor*> operands(inputs.begin(), inputs.end());
    std::vector<Tensor> wide(inputs.size());
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == no_value || inputs[i] == nullptr) continue;
      const std::optional<Tensor>& constant = graph_.values[node.inputs[i]].constant;
      if (constant) {
        operands[i] = &*constant;
      } else if (is_narrow_floating(inputs[i]->dtype())) {
        DRIFTSCOPE_TRY(wide[i], widened(*inputs[i], threads_));
        operands[i] = &wide[i];
      }
    }
    DRIFTSCOPE_TRY(std::vector<Tensor> outputs, kernel_->run(operands));
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (is_narrow_floating(output_types_[i])) {
        DRIFTSCOPE_TRY(outputs[i], narrowed(outputs[i], output_types_[i], threads_));
      }
    return outputs;
  }

 private:
  static DType type_of(const StrictSite& site, ValueId id) {
    return id == no_value ? DType::undefined : site.graph.values[id].dtype;
  }

  [[nodiscard]] DType stored_type() const {
    const auto narrow = std::ranges::find_if(output_types_, is_narrow_floating);
    return narrow != output_types_.end() ? *narrow : DType::float32;
  }

  ValueId add_value(const StrictSite& site, ValueId id) {
    if (id == no_value) return no_value;
    Value value;
    value.name = site.graph.values[id].name;
    value.shape = site.graph.values[id].shape;
    value.dtype = type_of(site, id);
    if (is_narrow_floating(value.dtype)) value.dtype = DType::float32;
    graph_.values.push_back(std::move(value));
    return static_cast<ValueId>(graph_.values.size() - 1);
  }

  ThreadPool& threads_;
  Graph graph_;
  FoldedValues nothing_folded_;
  std::vector<DType> output_types_;
  std::unique_ptr<StrictKernel> kernel_;
};

}  // namespace

std::unique_ptr<StrictKernel> prepare_widened(const StrictSite& site, PrepareStrictKernel make) {
  const auto narrow = [&](ValueId id) {
    return id != no_value && is_narrow_floating(site.graph.values[id].dtype);
  };
  if (std::ranges::none_of(site.node.inputs, narrow) && std::ranges::none_of(site.node.outputs, narrow))
    return nullptr;
  auto kernel = std::make_unique<WidenedKernel>(site);
  if (!kernel->prepare(site, make).ok() || !kernel->supports()) return nullptr;
  return kernel;
}

}  // namespace driftscope::strict
