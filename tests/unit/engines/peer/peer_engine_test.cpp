// What every engine of another runtime has.
#include "core/engines/peer/peer_engine.hpp"

#include <doctest/doctest.h>

namespace driftscope::test::peer_engine_test {

// The error of a runtime that hangs names this option.
TEST_CASE("PeerEngine_EveryPeer_TakesATimeout") {
  int peers = 0;
  for (const auto& engine : engines()) {
    if (engine->info().kind != EngineKind::peer) continue;
    ++peers;
    CAPTURE(engine->name());
    const Status status = check_options(engine->info(), {{"timeout", "5"}});
    CHECK_MESSAGE(status.ok(), status.error().message);
    CHECK_FALSE(check_options(engine->info(), {{"timeout", "0"}}).ok());
  }
  CHECK(peers > 0);
}

}  // namespace driftscope::test::peer_engine_test
