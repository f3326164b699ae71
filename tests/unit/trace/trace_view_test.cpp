#include "core/trace/trace_view.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/trace/trace_file.hpp"

namespace driftscope::test::trace_view_test {
namespace {

Trace small_trace() {
  Trace trace;
  trace.target = "pc/strict";
  const std::vector<float> values = {1, 2, 3};
  const auto tensor = Tensor::from_values<float>({3}, std::span(values));
  REQUIRE(tensor.ok());
  trace.tensors.push_back({"x", *tensor});
  trace.tensors.push_back({"y", *tensor->reshaped({1, 3})});
  return trace;
}

}  // namespace

TEST_CASE("TraceView_FromBytesAndFromMemory_HoldTheSame") {
  const Trace trace = small_trace();
  const auto bytes = write_trace(trace);
  REQUIRE(bytes.ok());
  const auto opened = TraceView::open(*bytes);
  REQUIRE(opened.ok());
  for (const TraceView& view : {TraceView(trace), *opened}) {
    CHECK(view.about().target == "pc/strict");
    CHECK(view.about().tensors.empty());
    REQUIRE(view.size() == 2);
    CHECK(view[1].name == "y");
    CHECK(view[1].dtype == DType::float32);
    CHECK(view[1].shape == Shape{1, 3});
    const auto y = view.load(1);
    REQUIRE(y.ok());
    CHECK(std::ranges::equal(y->values<float>(), trace.tensors[1].tensor.values<float>()));
  }
}

TEST_CASE("TraceView_CutShort_IsRefusedBeforeAnythingIsLoaded") {
  const auto bytes = write_trace(small_trace());
  REQUIRE(bytes.ok());
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{20}, bytes->size() - 1})
    CHECK_FALSE(TraceView::open(std::span(*bytes).first(size)).ok());
}

}  // namespace driftscope::test::trace_view_test
