#include "core/graph/legacy.hpp"

#include <doctest/doctest.h>

namespace driftscope::test::legacy_test {
namespace {

ModelNode node(const std::string& op, std::vector<Attribute> attributes) {
  return {"n", op, "", {"a", "b"}, {"c"}, std::move(attributes)};
}

}  // namespace

TEST_CASE("Modernize_BroadcastWithoutAxis_IsWhatOpset7Does") {
  ModelNode add = node("Add", {{"broadcast", std::int64_t{1}}, {"consumed_inputs", std::int64_t{0}}});
  REQUIRE(modernize(add, 6).ok());
  CHECK(add.attributes.empty());
}

TEST_CASE("Modernize_BroadcastWithAxis_KeepsTheAxis") {
  ModelNode add = node("Add", {{"broadcast", std::int64_t{1}}, {"axis", std::int64_t{1}}});
  REQUIRE(modernize(add, 6).ok());
  REQUIRE(add.attributes.size() == 1);
  CHECK(add.attributes[0].name == broadcast_axis);
  // Without broadcast the axis means nothing.
  ModelNode plain = node("Add", {{"axis", std::int64_t{1}}});
  REQUIRE(modernize(plain, 6).ok());
  CHECK(plain.attributes.empty());
}

TEST_CASE("Modernize_FromOpset7On_TouchesNothing") {
  ModelNode dropout = node("Dropout", {{"is_test", std::int64_t{1}}});
  REQUIRE(modernize(dropout, 7).ok());
  CHECK(dropout.attributes.size() == 1);
  REQUIRE(modernize(dropout, 6).ok());
  CHECK(dropout.attributes.empty());
}

TEST_CASE("Modernize_NodesThatTrain_AreUnsupported") {
  for (const char* op : {"Dropout", "BatchNormalization"}) {
    ModelNode absent = node(op, {});
    ModelNode zero = node(op, {{"is_test", std::int64_t{0}}});
    for (ModelNode* trains : {&absent, &zero}) {
      const Status status = modernize(*trains, 6);
      REQUIRE_FALSE(status.ok());
      CHECK(status.error().kind == ErrorKind::unsupported);
      CHECK(status.error().message.find("is_test") != std::string::npos);
    }
  }
}

TEST_CASE("Modernize_FormsWithoutAnEqual_AreUnsupported") {
  ModelNode reshape = node("Reshape", {{"shape", std::vector<std::int64_t>{1}}});
  const Status status = modernize(reshape, 4);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().kind == ErrorKind::unsupported);
}

}  // namespace driftscope::test::legacy_test
