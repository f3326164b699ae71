// Shared by If, Loop and Scan: conditions, limits, values that are cut into slices and stacked
// again, types that hold for every iteration. Clients: if.cpp, loop.cpp, scan.cpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/eval/evaluated.hpp"
#include "core/eval/operator.hpp"

namespace driftscope {

/// Maximum number of iterations of a Loop or Scan, including those of nested loops.
inline constexpr std::int64_t max_iterations = 1'000'000;

/// Maximum size of the values that a Loop carries, and of those that it collects.
inline constexpr std::int64_t max_loop_bytes = std::int64_t{1} << 31;

/// Counts the iterations of the outermost loop that runs on this thread and of all nested loops.
class IterationScope {
 public:
  IterationScope();
  ~IterationScope();
  IterationScope(const IterationScope&) = delete;
  IterationScope& operator=(const IterationScope&) = delete;
  /// Counts one more; an error beyond the limit.
  [[nodiscard]] Status next();
};

/// The one element of a bool tensor; an error if rounding may have changed it.
template <class S>
[[nodiscard]] Result<bool> condition_of(const Evaluated<S>& value, std::string_view what);

/// An int64 or bool scalar for a subgraph.
template <class S>
[[nodiscard]] Result<Evaluated<S>> scalar_value(std::int64_t x);
template <class S>
[[nodiscard]] Result<Evaluated<S>> scalar_value(bool x);

/// Bytes of a value in its own type.
template <class S>
[[nodiscard]] std::int64_t byte_size(const Evaluated<S>& value);

/// Element `at` along `axis`, without that axis. 0 ≤ at < size.
template <class S>
[[nodiscard]] Result<Evaluated<S>> slice_at(const Evaluated<S>& value, std::size_t axis, std::int64_t at);

/// Values of one type and shape stacked along a new axis. Error: they differ, or the result has no such
/// axis. With no values: `empty` gives type and shape of one.
template <class S>
[[nodiscard]] Result<Evaluated<S>> stack(std::span<const Evaluated<S>> values, std::int64_t axis,
                                         const Value& empty);

/// The type that covers both: equal sizes stay, others become unknown.
[[nodiscard]] TensorType common_type(const TensorType& a, const TensorType& b);

/// Types of the body's outputs for `fixed` inputs and then `carried` ones, of which output
/// `first_carried` + i is the next value: carried types are widened until they hold for every
/// iteration. Unknown types if the body does not allow it; they may be known when it runs.
[[nodiscard]] std::vector<TensorType> infer_body(SubgraphTypes& subgraphs, std::span<const TensorType> before,
                                                 std::vector<TensorType>& carried,
                                                 std::span<const TensorType> after, std::size_t first_carried,
                                                 std::size_t outputs);

}  // namespace driftscope
