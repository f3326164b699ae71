// Every peer in a browser: a runtime in JavaScript in the same worker. It is asynchronous: requests go to
// web/peers/peers.mjs as JSON, bytes by their address in this heap, and between polls the event loop
// runs. A further peer is its web/peers/NAME/NAME.mjs; nothing here knows one by name.
#include <emscripten.h>
#include <fmt/format.h>

#include "core/base/json.hpp"
#include "core/protocol/peer_runtime.hpp"

namespace {

// The reply stays in Module until it is fetched. Memory may be shared, which TextDecoder rejects: slice
// copies. Addresses arrive as signed numbers.
EM_JS(int, ds_peers_present, (), { return Module["peers"] ? 1 : 0; });

EM_JS(int, ds_peer_request, (const char* head, int size), {
  const text = new TextDecoder().decode(new Uint8Array(wasmMemory.buffer, head >>> 0, size).slice());
  const reply = Module["peers"].request(JSON.parse(text), wasmMemory);
  Module["peerReply"] = new TextEncoder().encode(JSON.stringify(reply));
  return Module["peerReply"].length;
});

EM_JS(void, ds_peer_reply, (char* to), {
  new Uint8Array(wasmMemory.buffer, to >>> 0, Module["peerReply"].length).set(Module["peerReply"]);
  Module["peerReply"] = null;
});

}  // namespace

namespace driftscope::peer {
namespace {

using nlohmann::json;

/// Bytes are exchanged by their address.
class HeapChannel final : public Channel {
 public:
  json place(Parcel& /*parcel*/, std::span<const std::byte> bytes) override {
    return {{"at", reinterpret_cast<std::uintptr_t>(bytes.data())}, {"bytes", bytes.size()}};
  }
  json place_for_reply(Parcel& parcel, std::span<std::byte> bytes) override { return place(parcel, bytes); }

  Result<json> ask(json request, const Parcel& /*parcel*/) override {
    const std::string head = json_text(request);
    std::string reply(static_cast<std::size_t>(ds_peer_request(head.data(), static_cast<int>(head.size()))),
                      '\0');
    ds_peer_reply(reply.data());
    return parse_json(reply);
  }

  bool wait() override { return false; }
};

class WebRuntime final : public JsonRuntime {
 public:
  explicit WebRuntime(const PeerInfo& peer)
      : JsonRuntime(peer, [] {
          static const std::shared_ptr<Channel> heap = std::make_shared<HeapChannel>();
          return Result<std::shared_ptr<Channel>>(heap);
        }) {}

  [[nodiscard]] Availability available() const override {
    if (ds_peers_present() == 0)
      return {false, peer().in_browsers.package + " is not attached to this instance"};
    return {true, fmt::format("{} {}", peer().in_browsers.title, peer().version)};
  }
};

}  // namespace

const Runtime& runtime_of(const PeerInfo& peer) {
  static std::map<std::string, WebRuntime, std::less<>> runtimes;
  return runtimes.try_emplace(peer.engine.name, peer).first->second;
}

}  // namespace driftscope::peer
