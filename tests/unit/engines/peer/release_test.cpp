#include "core/engines/peer/release.hpp"

#include <doctest/doctest.h>

#include "core/engines/peer/peer_engine.hpp"

namespace driftscope::test::release_test {
namespace {

const peer::PeerInfo& described(const std::string& engine) {
  const auto found = find_engine(engine);
  REQUIRE(found.ok());
  const auto* const made = dynamic_cast<const peer::PeerEngine*>(*found);
  REQUIRE(made != nullptr);
  return made->info_of_peer();
}

std::string needed(const std::string& engine, const std::string& host,
                   const std::map<std::string, std::string>& options) {
  std::string text;
  for (const peer::NeededPackage& one : peer::needed_packages(described(engine), host, options))
    text += (text.empty() ? "" : " ") + one.package.name + "@" + one.version;
  return text;
}

}  // namespace

TEST_CASE("Release_TheOneThatIsHere_NeedsNoPackage") {
  const std::string pinned = described("ort").version;
  CHECK(needed("ort", "chrome", {}).empty());
  CHECK(needed("ort", "chrome", {{"release", pinned}}).empty());
  CHECK(needed("ort-webgpu", "chrome", {{"build", "webgpu"}, {"release", pinned}}).empty());
}

TEST_CASE("Release_Another_OrAnotherBuild_NeedsItsPackages") {
  CHECK(needed("ort", "chrome", {{"release", "1.25.1"}}) == "onnxruntime-web@1.25.1");
  CHECK(needed("ort", "pc", {{"release", "1.25.1"}}) == "onnxruntime-node@1.25.1");
  const std::string pinned = described("ort-webgpu").version;
  CHECK(needed("ort-webgpu", "firefox", {{"build", "all"}}) == "onnxruntime-web@" + pinned);
  CHECK(
      needed("tfjs-wasm", "pc", {{"release", "4.10.0"}}) ==
      "@tensorflow/tfjs-core@4.10.0 @tensorflow/tfjs-converter@4.10.0 @tensorflow/tfjs-backend-wasm@4.10.0");
}

TEST_CASE("Release_OfATarget_IsAVersion") {
  const EngineInfo& info = (*find_engine("ort-webgpu"))->info();
  CHECK(check_options(info, {{"release", "1.25.1"}, {"build", "all"}}).ok());
  CHECK(check_options(info, {{"release", "1.26.0-dev.20260416-b7804b056c"}}).ok());
  for (const char* bad : {"", "latest", "../1.2", "1.2/3", "1..2", "^1.2", "1.2 ", "@1.2"}) {
    CAPTURE(bad);
    const Status status = check_options(info, {{"release", bad}});
    REQUIRE(!status.ok());
    CHECK(status.error().message == std::string("option release=") + bad + ": expected a version, as 1.25.1");
  }
  const Status unknown = check_options(info, {{"build", "other"}});
  REQUIRE(!unknown.ok());
  CHECK(unknown.error().message == "option build=other: expected webgpu, all, jspi");
}

}  // namespace driftscope::test::release_test
