// Products of weights with the taps of windows, on simd/gemm and on all threads: for each sample and group
//   Y[output, window] = start[output] + Σₖ W[output, k] · tap k of the window, k ascending.
// The planes are laid out so that a tap of adjacent windows is contiguous (window_grid); runs over
// several rows of windows also compute elements between the rows.
// Clients: the strict kernels of Conv, ConvTranspose, ConvInteger, QLinearConv.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/engines/strict/packing.hpp"
#include "core/engines/strict/scratch.hpp"

namespace driftscope {

/// Where the taps lie and how many windows there are.
struct WindowLayout {
  std::int64_t groups = 1;
  std::int64_t outputs = 1;     ///< rows of W per group
  std::int64_t group_size = 0;  ///< elements of the planes of one group
  std::int64_t pitch = 1;       ///< elements from one row of windows to the next
  std::int64_t rows = 1;        ///< of windows
  std::int64_t columns = 1;
  std::vector<std::ptrdiff_t> offsets;  ///< of tap k of the first window, in a group's planes

  [[nodiscard]] std::int64_t depth() const { return std::ssize(offsets); }
  [[nodiscard]] std::int64_t windows() const { return rows * columns; }
};

/// Adjacent windows of one row, for one output: the unit in which results are stored.
struct WindowRange {
  std::int64_t plane;  ///< sample · groups · outputs + group · outputs + output
  std::int64_t row;
  std::int64_t column;
  std::int64_t columns;
};

/// T: float, or std::int32_t for pairs of int16.
template <class T>
class WindowProduct {
 public:
  /// `samples`: the number given to run() at once, for dividing the work.
  WindowProduct(const ProductKernels<T>& kernels, ThreadPool& threads, WindowLayout layout,
                std::int64_t samples)
      : kernels_(kernels), threads_(threads), layout_(std::move(layout)) {
    cut_into_blocks(samples);
  }

  [[nodiscard]] const WindowLayout& layout() const { return layout_; }

  /// W: groups · outputs rows of `depth` elements, one after another.
  void pack(const T* w) {
    weights_.clear();
    for (std::int64_t g = 0; g < layout_.groups; ++g)
      weights_.emplace_back(kernels_,
                            MatrixViewOf<T>{.data = w + g * layout_.outputs * layout_.depth(),
                                            .rows = layout_.outputs,
                                            .columns = layout_.depth(),
                                            .row_step = layout_.depth()},
                            threads_);
  }

  /// Elements that a scratch pool must hold for run().
  [[nodiscard]] std::int64_t scratch_size() const {
    std::int64_t largest = 0;
    for (const Block& block : blocks_) largest = std::max(largest, scratch_stride(block));
    return largest * block_outputs_;
  }

  /// `planes` can be read a vector beyond its end. `start`: one per output of every group, or none: 0.
  /// store(range, values) is called on any thread, once for every window of every output.
  template <class Store>
  void run(const T* planes, std::int64_t samples, std::span<const T> start, ScratchPoolOf<T>& scratch,
           const Store& store) const {
    for_each_task(samples, scratch, [&](const Task& task, T* sums) {
      compute(task, planes + task.plane * layout_.group_size, start, sums, store);
    });
  }

  /// Whether the windows of an output are contiguous in a plane as they are in Y.
  [[nodiscard]] bool is_gapless() const { return layout_.pitch == layout_.columns; }
  /// run() if is_gapless(), directly into y: samples · groups · outputs planes of windows.
  void run_into(T* y, const T* planes, std::int64_t samples, std::span<const T> start,
                ScratchPoolOf<T>& scratch) const {
    for_each_task(samples, scratch, [&](const Task& task, T* sums) {
      compute_into(y, task, planes + task.plane * layout_.group_size, start, sums);
    });
  }

  /// run() for one group of one sample, given only its planes: on this thread, with
  /// scratch_size() elements of scratch space. plane = sample · groups + group.
  template <class Store>
  void run_group(const T* planes, std::int64_t plane, std::span<const T> start, T* sums,
                 const Store& store) const {
    for (const Block& block : blocks_)
      for (std::int64_t first = 0; first < layout_.outputs; first += block_outputs_)
        compute({block, plane, first}, planes, start, sums, store);
  }

 private:
  static constexpr std::int64_t products_per_chunk = 131072;  // worth a separate task
  static constexpr std::int64_t elements_per_block = 32768;   // accumulators that stay in the cache
  static constexpr std::int64_t max_columns = 8192;           // of one output
  static constexpr std::int64_t rows_per_block = 96;          // a multiple of every micro tile's rows

  // Windows whose tap runs are contiguous: whole rows of windows, or a part of one.
  struct Block {
    std::int64_t row;
    std::int64_t rows;
    std::int64_t column;
    std::int64_t columns;
  };

  // One block of windows for outputs [first, first + block_outputs_) of one sample's group.
  struct Task {
    const Block& block;
    std::int64_t plane;  // sample · groups + group
    std::int64_t first;
  };

  template <class Body>
  void for_each_task(std::int64_t samples, ScratchPoolOf<T>& scratch, const Body& body) const {
    const auto blocks = static_cast<std::int64_t>(blocks_.size());
    if (blocks == 0) return;
    const std::int64_t row_blocks = (layout_.outputs + block_outputs_ - 1) / block_outputs_;
    const std::int64_t tasks = samples * layout_.groups * row_blocks * blocks;
    const std::int64_t cost = block_outputs_ * run_length(blocks_.front()) * layout_.depth();
    threads_.parallel_for(
        tasks, std::max<std::int64_t>(1, products_per_chunk / std::max<std::int64_t>(1, cost)),
        [&](std::int64_t begin, std::int64_t end) {
          const typename ScratchPoolOf<T>::Lease lease(scratch);
          for (std::int64_t task = begin; task < end; ++task)
            body(Task{blocks_[static_cast<std::size_t>(task % blocks)], task / blocks / row_blocks,
                      task / blocks % row_blocks * block_outputs_},
                 lease.data());
        });
  }

  // The number of blocks per plane: a few for every thread, none too small for a task.
  [[nodiscard]] std::int64_t blocks_for_threads(std::int64_t samples) const {
    const std::int64_t threads = threads_.size();
    if (threads == 1) return 1;
    const std::int64_t row_blocks = (layout_.outputs + block_outputs_ - 1) / block_outputs_;
    const std::int64_t planes = std::max<std::int64_t>(1, samples * layout_.groups * row_blocks);
    const std::int64_t worth = block_outputs_ * layout_.windows() * layout_.depth() / products_per_chunk;
    return std::clamp<std::int64_t>((4 * threads + planes - 1) / planes, 1, std::max<std::int64_t>(1, worth));
  }

  void cut_into_blocks(std::int64_t samples) {
    if (layout_.windows() == 0 || layout_.outputs == 0) return;
    block_outputs_ = std::min(rows_per_block, layout_.outputs);
    zeros_.assign(static_cast<std::size_t>(block_outputs_), T(0));
    std::int64_t wanted =
        std::clamp<std::int64_t>(elements_per_block / block_outputs_, 4 * kernels_.columns, max_columns);
    wanted = std::clamp(layout_.rows * layout_.pitch / blocks_for_threads(samples),
                        std::min<std::int64_t>(2 * kernels_.columns, wanted), wanted);
    if (layout_.pitch > wanted) {
      for (std::int64_t row = 0; row < layout_.rows; ++row)
        for (std::int64_t column = 0; column < layout_.columns; column += wanted)
          blocks_.push_back({row, 1, column, std::min(wanted, layout_.columns - column)});
      return;
    }
    const std::int64_t rows = wanted / layout_.pitch;
    for (std::int64_t row = 0; row < layout_.rows; row += rows)
      blocks_.push_back({row, std::min(rows, layout_.rows - row), 0, layout_.columns});
  }

  // Columns of the product for a block, those between the rows included.
  [[nodiscard]] std::int64_t run_length(const Block& block) const {
    return (block.rows - 1) * layout_.pitch + block.columns;
  }
  [[nodiscard]] std::int64_t scratch_stride(const Block& block) const {
    return (run_length(block) + kernels_.columns - 1) / kernels_.columns * kernels_.columns;
  }

  [[nodiscard]] std::int64_t outputs_of(const Task& task) const {
    return std::min(block_outputs_, layout_.outputs - task.first);
  }

  // The product of a task from its column `column` on, with c not yet set.
  [[nodiscard]] ProductBlock<T> product_of(const Task& task, const T* planes, std::span<const T> start,
                                           std::int64_t column) const {
    const std::int64_t group = task.plane % layout_.groups;
    return {.a = weights_[static_cast<std::size_t>(group)].panel(task.first),
            .rows = outputs_of(task),
            .depth = layout_.depth(),
            .b = planes + task.block.row * layout_.pitch + task.block.column + column,
            .offsets = layout_.offsets.data(),
            .b_panel = kernels_.columns,
            .start = start.empty() ? zeros_.data() : start.data() + group * layout_.outputs + task.first};
  }

  template <class Store>
  void compute(const Task& task, const T* planes, std::span<const T> start, T* sums,
               const Store& store) const {
    const Block& block = task.block;
    const std::int64_t stride = scratch_stride(block);
    ProductBlock<T> product = product_of(task, planes, start, 0);
    product.c = sums;
    product.c_stride = stride;
    product.columns = run_length(block);
    kernels_.accumulate(product);
    for (std::int64_t m = 0; m < outputs_of(task); ++m)
      for (std::int64_t row = 0; row < block.rows; ++row)
        store(WindowRange{task.plane * layout_.outputs + task.first + m, block.row + row, block.column,
                          block.columns},
              sums + m * stride + row * layout_.pitch);
  }

  // Whole vectors directly into y, the rest via the scratch space: a vector that extended beyond the
  // block would overwrite another block.
  void compute_into(T* y, const Task& task, const T* planes, std::span<const T> start, T* sums) const {
    const std::int64_t length = run_length(task.block);
    const std::int64_t whole = length / kernels_.lanes * kernels_.lanes;
    T* out = y + (task.plane * layout_.outputs + task.first) * layout_.windows() +
             task.block.row * layout_.columns + task.block.column;
    if (whole > 0) {
      ProductBlock<T> product = product_of(task, planes, start, 0);
      product.c = out;
      product.c_stride = layout_.windows();
      product.columns = whole;
      kernels_.accumulate(product);
    }
    if (whole == length) return;
    ProductBlock<T> rest = product_of(task, planes, start, whole);
    rest.c = sums;
    rest.c_stride = kernels_.columns;
    rest.columns = length - whole;
    kernels_.accumulate(rest);
    for (std::int64_t m = 0; m < rest.rows; ++m)
      std::copy_n(sums + m * kernels_.columns, rest.columns, out + m * layout_.windows() + whole);
  }

  ProductKernels<T> kernels_;
  ThreadPool& threads_;
  WindowLayout layout_;
  std::vector<Block> blocks_;
  std::int64_t block_outputs_ = 1;
  std::vector<T> zeros_;                  // initial values of outputs without a start
  std::vector<PackedRowsOf<T>> weights_;  // per group
};

}  // namespace driftscope
