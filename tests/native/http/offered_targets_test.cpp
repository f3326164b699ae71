// The devices of a hub as targets for the page of its owner.
#include "native/http/offered_targets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "core/runtime/engine.hpp"

namespace driftscope::test::offered_targets_test {
namespace {

messages::HubDevice device(const std::string& name, const char* about) {
  messages::HubDevice one;
  one.name = name;
  one.about = nlohmann::json::parse(about);
  one.visible = true;
  return one;
}

const messages::OfferedTarget& named(const messages::OfferedTargets& offered, const std::string& target) {
  const auto found = std::ranges::find(offered.targets, target, &messages::OfferedTarget::target);
  REQUIRE_MESSAGE(found != offered.targets.end(), target);
  return *found;
}

}  // namespace

TEST_CASE("OfferedTargets_AreWhatDevicesRun") {
  const std::vector<messages::HubDevice> devices = {
      device("phone", R"({"browser":"Chrome 156","model":"Pixel 8","adapter":"arm","renderer":"Mali"})")};
  const auto offered = offered_targets(devices);
  std::size_t count = 0;
  for (const auto& engine : engines()) {
    const bool runs = engine->info().in_browsers && engine->info().browser_feature.empty();
    CHECK(runs_on_devices(engine->info()) == runs);
    count += runs ? 1 : 0;
    if (runs) CHECK(named(offered, "remote:phone/" + engine->name()).available);
  }
  CHECK(offered.targets.size() == count);
  CHECK(offered.targets[0].target == "remote:phone/strict");
  CHECK(offered.targets[0].detail == "Chrome 156 on Pixel 8: ready");
  CHECK(offered.targets[1].detail.empty());
}

TEST_CASE("OfferedTargets_WithoutAnApi_SayWhichIsMissing") {
  const auto offered = offered_targets(
      std::vector{device("old", R"({"adapter":null,"webgl2":false})"), device("unknown", "{}")});
  CHECK(named(offered, "remote:old/strict").available);
  CHECK(!named(offered, "remote:old/webgpu").available);
  CHECK(named(offered, "remote:old/webgpu").detail == "this browser has no WebGPU");
  CHECK(!named(offered, "remote:old/webgl").available);
  CHECK(named(offered, "remote:unknown/webgpu").available);
}

TEST_CASE("OfferedTargets_DeviceThatIsSilent_IsNotHere") {
  auto silent = device("phone", "{}");
  silent.silent_ms = 61'000;
  const auto offered = offered_targets(std::vector{silent});
  for (const auto& one : offered.targets) CHECK(!one.available);
  CHECK(offered.targets[0].detail.find("silent for 61 s") != std::string::npos);
}

TEST_CASE("OfferedTargets_WhatADeviceSays_IsCutAndHarmless") {
  auto long_winded = device("phone", "{}");
  long_winded.about["browser"] = std::string(5000, 'x') + "\x1b[31m";
  const auto offered = offered_targets(std::vector{long_winded});
  CHECK(offered.targets[0].detail.size() < 1000);
  CHECK(offered.targets[0].detail.find('\x1b') == std::string::npos);
}

}  // namespace driftscope::test::offered_targets_test
