// What a reference kernel sees: the node, its inputs, its outputs already allocated, threads.
// The scalar S is double (the value), Bounded (value and error bound) or float (the plain strict
// kernel). Clients: kernels in ops/; evaluate fills it.
//
// Floating tensors of every ONNX type appear as spans of S; integer and bool tensors as Tensor. A node
// with only such operands runs on the float kernel, whatever the scalar: integer code is compiled once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "core/eval/evaluated.hpp"
#include "core/eval/integers.hpp"
#include "core/graph/graph.hpp"
#include "core/numerics/bounded.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {

/// Elements of an exactly known input that are lifted on first use: a kernel that
/// reads the tensor itself never pays for them.
template <class S>
class LazyValues {
 public:
  void set(const Tensor& tensor) { tensor_ = &tensor; }
  [[nodiscard]] const Tensor* tensor() const { return tensor_; }
  [[nodiscard]] std::span<const S> values() const {
    if (!ready_.load(std::memory_order_acquire)) {
      const std::lock_guard lock(mutex_);
      if (!ready_.load(std::memory_order_relaxed)) {
        values_ = lift_values<S>(*tensor_);
        ready_.store(true, std::memory_order_release);
      }
    }
    return values_;
  }

 private:
  const Tensor* tensor_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::atomic<bool> ready_ = false;
  mutable std::vector<S> values_;
};

/// One input or output while a kernel runs. `real` is used when is_floating(dtype), else `tensor`.
template <class S>
struct Operand {
  DType dtype = DType::undefined;  ///< undefined: an omitted optional, or an output not yet made
  Shape shape;
  std::span<const S> real;
  std::span<S> real_out;  ///< outputs only
  Tensor tensor;
  LazyValues<S> exact;                      ///< inputs only: instead of `real`
  bool wanted = false;                      ///< outputs only: the node has this output
  mutable std::atomic<bool> asked = false;  ///< inputs only: the kernel has looked at `real`
};

/// A subgraph of the running node. Its captured values are bound; it can run any number of times.
template <class S>
class SubgraphRun {
 public:
  virtual ~SubgraphRun() = default;
  [[nodiscard]] virtual const Graph& graph() const = 0;
  /// Values of the formal inputs in, values of the outputs out.
  [[nodiscard]] virtual Result<std::vector<Evaluated<S>>> run(std::vector<Evaluated<S>> inputs) = 0;
};

/// What evaluate provides to a kernel in addition to its operands: memory for outputs whose type only the
/// kernel knows, error bounds of integers, subgraphs.
template <class S>
class KernelHost {
 public:
  virtual ~KernelHost() = default;
  virtual Status allocate(std::size_t output, DType dtype, const Shape& shape) = 0;
  virtual Result<std::span<Bounded>> bounds(std::size_t output) = 0;
  virtual Status give(std::size_t output, Evaluated<S> value) = 0;
  virtual Evaluated<S> pass(std::size_t input) = 0;
  virtual const Tensor* recorded(std::size_t output) const = 0;
  virtual Result<std::unique_ptr<SubgraphRun<S>>> subgraph(std::string_view attribute) = 0;
};

/// The part of a context that does not depend on the scalar.
class KernelThreads {
 public:
  explicit KernelThreads(ThreadPool& threads) : threads_(threads) {}

  /// For a kernel that evaluates other nodes.
  [[nodiscard]] ThreadPool& pool() const { return threads_; }

  /// ThreadPool::parallel_for with the error model of this scope on every thread.
  void parallel_for(std::int64_t count, std::int64_t grain,
                    FunctionRef<void(std::int64_t, std::int64_t)> body) const {
    const ErrorModel& model = current_error_model();
    threads_.parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
      const ErrorModelScope scope(model);
      body(begin, end);
    });
  }

 private:
  ThreadPool& threads_;
};

template <class S>
class KernelContext : public KernelThreads {
 public:
  KernelContext(const Node& node, std::span<Operand<S>> inputs, std::span<Operand<S>> outputs,
                KernelHost<S>& host, ThreadPool& threads)
      : KernelThreads(threads), node_(node), inputs_(inputs), outputs_(outputs), host_(host) {}

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] std::int64_t opset() const { return node_.opset; }

  /// Excluding captured values.
  [[nodiscard]] std::size_t input_count() const { return node_.inputs.size(); }
  [[nodiscard]] bool has_input(std::size_t i) const {
    return i < input_count() && inputs_[i].dtype != DType::undefined;
  }
  [[nodiscard]] DType dtype(std::size_t i) const { return inputs_[i].dtype; }
  [[nodiscard]] const Shape& shape(std::size_t i) const { return inputs_[i].shape; }
  [[nodiscard]] std::span<const S> real(std::size_t i) const {
    const Operand<S>& input = inputs_[i];
    if (!input.asked.load(std::memory_order_relaxed)) input.asked.store(true, std::memory_order_relaxed);
    return input.exact.tensor() != nullptr ? input.exact.values() : input.real;
  }
  /// The tensor of a floating input that is known exactly and not lifted yet, else null.
  [[nodiscard]] const Tensor* exact(std::size_t i) const { return inputs_[i].exact.tensor(); }
  [[nodiscard]] const Tensor& tensor(std::size_t i) const { return inputs_[i].tensor; }

  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }
  [[nodiscard]] bool wants_output(std::size_t o) const { return o < outputs_.size() && outputs_[o].wanted; }
  [[nodiscard]] const Shape& output_shape(std::size_t o) const { return outputs_[o].shape; }
  [[nodiscard]] DType output_dtype(std::size_t o) const { return outputs_[o].dtype; }
  [[nodiscard]] std::span<S> real_output(std::size_t o) const { return outputs_[o].real_out; }
  [[nodiscard]] Tensor& tensor_output(std::size_t o) const { return outputs_[o].tensor; }

  /// Outputs whose shape (or dtype) depends on data have no memory before the kernel allocates them; the
  /// shape rule gives them an unknown dimension. To be called once, for wanted outputs.
  [[nodiscard]] Status allocate_output(std::size_t o, DType dtype, const Shape& shape) {
    return host_.allocate(o, dtype, shape);
  }

  /// Bounded kernels only: the possible values of an integer or bool output, one Bounded
  /// per element, to be filled by the kernel (a quantized result may differ by a step where the exact
  /// quotient lies near the middle of two). Without this call the output is exact.
  [[nodiscard]] Result<std::span<Bounded>> bounds_output(std::size_t o) { return host_.bounds(o); }

  /// What the engine under test recorded for this output, or null; for operators with `uses_recorded_state`.
  [[nodiscard]] const Tensor* recorded(std::size_t o) const { return host_.recorded(o); }

  /// driftscope::with_integer for nodes with only integer operands, no floating ones.
  /// Only the float kernel reaches this, and only it is compiled with the body.
  template <class Body>
  bool with_integer(DType dtype, const Body& body) {
    if constexpr (std::is_same_v<S, float>)
      return driftscope::with_integer(dtype, body);
    else
      return miss_integers(dtype);
  }
  template <class Body>
  bool with_integer_or_bool(DType dtype, const Body& body) {
    if constexpr (std::is_same_v<S, float>)
      return driftscope::with_integer_or_bool(dtype, body);
    else
      return miss_integers(dtype);
  }
  /// A kernel other than float's reached integers: they carry bounds that it cannot handle.
  [[nodiscard]] bool missed_integers() const { return missed_integers_; }
  bool miss_integers(DType dtype) {
    missed_integers_ = true;
    return !is_floating(dtype);
  }

  /// For control flow: an input in the form a subgraph takes, a subgraph by its attribute, and a value made
  /// by a subgraph as an output of this node (whose type the shape rule left open).
  [[nodiscard]] Evaluated<S> pass_input(std::size_t i) const { return host_.pass(i); }
  [[nodiscard]] Result<std::unique_ptr<SubgraphRun<S>>> subgraph(std::string_view attribute) const {
    return host_.subgraph(attribute);
  }
  [[nodiscard]] Status give_output(std::size_t o, Evaluated<S> value) {
    return host_.give(o, std::move(value));
  }

 private:
  const Node& node_;
  std::span<Operand<S>> inputs_;
  std::span<Operand<S>> outputs_;
  KernelHost<S>& host_;
  bool missed_integers_ = false;
};

}  // namespace driftscope
