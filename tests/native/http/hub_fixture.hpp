// A hub on a clock that its test moves. Clients: the tests of hubs.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "native/http/hub.hpp"

namespace driftscope::testing {

struct HubFixture {
  explicit HubFixture(std::filesystem::path keys = {}) {
    HubOptions options;
    options.keys = std::move(keys);
    options.clock = {[this] { return now; },
                     [this] { return std::chrono::steady_clock::time_point(std::chrono::seconds(now)); }};
    options.say = [this](const std::string& line) { said += line + "\n"; };
    auto opened = Hub::open(std::move(options));
    REQUIRE_MESSAGE(opened.ok(), opened.error().message);
    hub = *std::move(opened);
  }

  /// A new device: its segment and its Cookie header.
  std::pair<std::string, std::string> join(const std::string& name) {
    const auto segment = hub->invite();
    REQUIRE(segment.ok());
    const auto joined = hub->join(*segment, {.name = name});
    REQUIRE(joined.ok());
    REQUIRE(hub->here(*segment, sign()).ok());
    return {*segment, joined->set_cookie.substr(0, joined->set_cookie.find(';'))};
  }

  static messages::Here sign() {
    messages::Here said;
    said.about = nlohmann::json::object();
    said.visible = true;
    return said;
  }

  std::int64_t now = 1'000'000;
  std::string said;
  std::unique_ptr<Hub> hub;
};

}  // namespace driftscope::testing
