// What is looked at on devices of the hub though nobody asked for it.
#include <doctest/doctest.h>

#include <array>

#include "core/runtime/target.hpp"
#include "native/compare/comparison_host.hpp"

namespace driftscope::test::device_checks_test {
namespace {

const Target device = *parse_target("remote:phone/strict");
const Target pc = *parse_target("pc/strict");

ComparisonInputs inputs_of(std::int64_t repeat, std::int64_t settle_ms) {
  ComparisonInputs inputs;
  inputs.plan.repeat = repeat;
  inputs.plan.settle_ms = settle_ms;
  inputs.memory_runs = 0;
  inputs.on_devices = {.compare_runs = true, .memory = true};
  return inputs;
}

TEST_CASE("DeviceChecks_SeveralRuns_AreComparedOnDevicesAlone") {
  const ComparisonInputs settling = inputs_of(1, 1000);
  const messages::RunPlan plan = plan_on(device, settling);
  CHECK(plan.compare_runs);
  CHECK(plan.repeat == device_repeats);
  CHECK(plan.settle_ms == 0);  // they exclude each other
  CHECK(!plan_on(pc, settling).compare_runs);
  CHECK(plan_on(pc, settling).settle_ms == 1000);
  // As many as were asked for.
  CHECK(plan_on(device, inputs_of(20, 0)).repeat == 20);
  CHECK(plan_on(device, inputs_of(20, 0)).compare_runs);
  ComparisonInputs forbidden = settling;
  forbidden.on_devices.compare_runs = false;
  CHECK(!plan_on(device, forbidden).compare_runs);
  CHECK(plan_on(device, forbidden).settle_ms == 1000);
}

TEST_CASE("DeviceChecks_Memory_IsWatchedWhereADeviceIsAmongTheTargets") {
  ComparisonInputs inputs = inputs_of(1, 0);
  const std::array both = {pc, device};
  const std::array none = {pc};
  CHECK(watches_memory(inputs, both));
  CHECK(!watches_memory(inputs, none));
  inputs.on_devices.memory = false;
  CHECK(!watches_memory(inputs, both));
  inputs.memory_runs = 20;
  CHECK(watches_memory(inputs, none));
}

}  // namespace
}  // namespace driftscope::test::device_checks_test
