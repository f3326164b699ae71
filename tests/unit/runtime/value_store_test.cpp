#include <doctest/doctest.h>

#include "core/runtime/value_store.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::value_store_test {

TEST_CASE("ValueStore_ReleasesAfterTheLastUse_AndKeepsOutputs") {
  ModelBuilder model;
  model.input("x", DType::float32, {1})
      .initializer("w", tensor<float>({1}, {2}))
      .node("Add", {"x", "w"}, {"a"})
      .node("Relu", {"a"}, {"b"})
      .node("Add", {"a", "b"}, {"c"})
      .output("c")
      .output("b");
  const Graph graph = built(model);
  const auto id = [&](const char* name) { return *graph.find_value(name); };
  const Tensor one = tensor<float>({1}, {1});
  ValueStore store(graph);
  store.put(id("x"), one);
  store.put(id("a"), one);
  store.node_done(0);
  CHECK(store.get(id("x")) == nullptr);
  CHECK(store.get(id("a")) != nullptr);
  store.put(id("b"), one);
  store.node_done(1);
  CHECK(store.get(id("a")) != nullptr);
  store.put(id("c"), one);
  store.node_done(2);
  CHECK(store.get(id("a")) == nullptr);
  CHECK(store.get(id("b")) != nullptr);
  CHECK(store.get(id("c")) != nullptr);
  CHECK(store.get(id("w")) != nullptr);
  CHECK(store.get(no_value) == nullptr);
  store.reset();
  CHECK(store.get(id("c")) == nullptr);
  CHECK(store.get(id("w")) != nullptr);
}

}  // namespace driftscope::test::value_store_test
