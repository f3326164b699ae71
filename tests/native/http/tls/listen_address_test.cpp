// What --listen means, and which address a link has; how many connections an address may have.
#include "native/http/tls/listen_address.hpp"

#include <doctest/doctest.h>

#include "native/http/tls/address_quota.hpp"

namespace driftscope::test::listen_address_test {
namespace {

using Addresses = std::vector<std::string>;

TEST_CASE("ListenAddress_Text_IsAnAddressAndAPort") {
  const auto plain = parse_listen_address("192.168.1.5");
  REQUIRE(plain.ok());
  CHECK(plain->address == "192.168.1.5");
  CHECK(plain->port == default_listen_port);
  const auto with_port = parse_listen_address("127.0.0.1:0");
  REQUIRE(with_port.ok());
  CHECK(with_port->port == 0);
  for (const char* all : {"all", "0.0.0.0", "all:8458"})
    CHECK(parse_listen_address(all)->address == "0.0.0.0");
  for (const char* bad : {"", ":", ":8458", "::1", "[::1]:8458", "localhost", "1.2.3", "1.2.3.4.5", "all "}) {
    const auto read = parse_listen_address(bad);
    REQUIRE_MESSAGE(!read.ok(), bad);
    CHECK(read.error().message.find("--listen: expected") != std::string::npos);
  }
  for (const char* bad :
       {"1.2.3.4:", "1.2.3.4:x", "1.2.3.4:65536", "1.2.3.4:-1", "1.2.3.4:80 ", "1.2.3.4:1:2"}) {
    const auto read = parse_listen_address(bad);
    REQUIRE_MESSAGE(!read.ok(), bad);
    CHECK(read.error().message.find("--listen: expected a port") != std::string::npos);
  }
}

TEST_CASE("ListenAddress_All_PrefersTheNetworkOfTheDefaultRoute") {
  const std::vector<OwnAddress> own = {{.address = "203.0.113.9"},
                                       {.address = "10.8.0.2", .point_to_point = true},
                                       {.address = "172.17.0.1"},
                                       {.address = "192.168.1.5"}};
  const auto by_default = reachable_addresses("0.0.0.0", own, "192.168.1.5");
  REQUIRE(by_default.ok());
  CHECK(*by_default == Addresses{"192.168.1.5", "172.17.0.1", "203.0.113.9", "10.8.0.2"});
  // A tunnel is not where phones are, nor is the world where a private network is at hand.
  CHECK(reachable_addresses("0.0.0.0", own, "10.8.0.2")->front() == "172.17.0.1");
  CHECK(reachable_addresses("0.0.0.0", own, "")->front() == "172.17.0.1");
  const auto none = reachable_addresses("0.0.0.0", {}, "");
  REQUIRE(!none.ok());
  CHECK(none.error().message.find("no IPv4 address") != std::string::npos);
}

TEST_CASE("ListenAddress_One_MustBeOfThisMachine") {
  const std::vector<OwnAddress> own = {{.address = "192.168.1.5"}, {.address = "10.0.0.7"}};
  CHECK(*reachable_addresses("10.0.0.7", own, "192.168.1.5") == Addresses{"10.0.0.7"});
  CHECK(*reachable_addresses("127.0.0.1", own, "") == Addresses{"127.0.0.1"});
  const auto foreign = reachable_addresses("10.0.0.8", own, "192.168.1.5");
  REQUIRE(!foreign.ok());
  CHECK(foreign.error().message ==
        "--listen: 10.0.0.8 is not an address of this machine; it has 192.168.1.5, 10.0.0.7");
  for (const OwnAddress& each : own_addresses()) CHECK(!each.address.starts_with("127."));
}

TEST_CASE("AddressQuota_LimitsEachAddressAndAllTogether") {
  const AddressQuota::Time now{};
  AddressQuota quota({.all = 4, .each = 3});
  for (int i = 0; i < 3; ++i) CHECK(quota.enter(1, now));
  CHECK(!quota.enter(1, now));
  CHECK(quota.enter(2, now));
  CHECK(!quota.enter(3, now));
  quota.leave(1);
  CHECK(quota.enter(3, now));
  quota.leave(9);  // it never came
  CHECK(!quota.enter(3, now));
}

TEST_CASE("AddressQuota_LimitsNewConnectionsBySecond") {
  AddressQuota::Time now{};
  AddressQuota quota({.burst = 5, .per_second = 2});
  const auto come_and_go = [&](std::uint32_t address) {
    if (!quota.enter(address, now)) return false;
    quota.leave(address);
    return true;
  };
  for (int i = 0; i < 5; ++i) CHECK(come_and_go(1));
  CHECK(!come_and_go(1));
  CHECK(come_and_go(2));
  now += std::chrono::seconds(1);
  CHECK(come_and_go(1));
  CHECK(come_and_go(1));
  CHECK(!come_and_go(1));
}

TEST_CASE("AddressQuota_ForgetsThoseThatHaveBeenAway") {
  AddressQuota::Time now{};
  AddressQuota quota({.burst = 2, .per_second = 1, .known = 3});
  for (std::uint32_t address = 1; address <= 3; ++address) {
    REQUIRE(quota.enter(address, now));
    if (address != 2) quota.leave(address);
  }
  CHECK(!quota.enter(4, now));
  now += std::chrono::seconds(2);
  CHECK(quota.enter(4, now));
  CHECK(quota.enter(5, now));
  CHECK(!quota.enter(6, now));  // 2, 4 and 5 are here
}

}  // namespace
}  // namespace driftscope::test::listen_address_test
