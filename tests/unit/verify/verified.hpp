// Values that a test gives, and their verification, which must succeed.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/half.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/verify.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test {

/// Of float16.
inline Tensor halves(Shape shape, const std::vector<double>& values) {
  auto result = Tensor::make(DType::float16, std::move(shape));
  REQUIRE(result.ok());
  const auto to = result->mutable_values<std::uint16_t>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = narrow(float16_format, values[i]);
  return *std::move(result);
}

inline Verification verified(const ModelBuilder& model, const std::vector<NamedTensor>& tensors) {
  Trace trace;
  trace.tensors = tensors;
  ThreadPool threads(1);
  auto result = verify(built(model), "", trace, threads);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  return *std::move(result);
}

}  // namespace driftscope::test
