// The elements of a floating input one by one, without all of them as scalars: a Bounded is eight times as
// large as the float32 that it comes from. Clients: kernels that read an element once or twice.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "core/eval/kernel_context.hpp"

namespace driftscope {

template <class S>
class RealElements {
 public:
  RealElements(const KernelContext<S>& context, std::size_t input) {
    if constexpr (!std::is_same_v<S, float>)
      if (context.exact(input) != nullptr && context.dtype(input) == DType::float32) {
        stored_ = context.exact(input)->template values<float>();
        return;
      }
    reals_ = context.real(input);
  }

  explicit RealElements(std::span<const S> values) : reals_(values) {}

  [[nodiscard]] std::size_t size() const { return stored_.empty() ? reals_.size() : stored_.size(); }
  [[nodiscard]] S operator[](std::size_t i) const {
    if constexpr (!std::is_same_v<S, float>)
      if (!stored_.empty()) return S(static_cast<double>(stored_[i]));
    return reals_[i];
  }

 private:
  std::span<const float> stored_;  // exactly known; else empty
  std::span<const S> reals_;
};

}  // namespace driftscope
