// The session service as C functions: what the worker calls. Client: web/worker/engine.mjs.
// Bytes go in and out through the wasm heap; nothing here interprets them.
#include <emscripten.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "core/protocol/service.hpp"

namespace {

// The bytes that "load" reads are in Module["outside"], a Uint8Array.
EM_JS(void, ds_read_outside, (double offset, std::byte* target, std::size_t size), {
  const bytes = Module["outside"].subarray(offset, offset + (size >>> 0));
  new Uint8Array(wasmMemory.buffer, target >>> 0, bytes.length).set(bytes);
});

driftscope::Service& service() {
  static const auto the_service = [] {
    auto made = std::make_unique<driftscope::Service>();
    made->load_from([](std::uint64_t offset, std::span<std::byte> target) {
      ds_read_outside(static_cast<double>(offset), target.data(), target.size());
    });
    return made;
  }();
  return *the_service;
}

std::vector<std::byte>& reply() {
  static std::vector<std::byte> bytes;
  return bytes;
}

}  // namespace

extern "C" {

/// Allocates a request; null if there is no memory.
EMSCRIPTEN_KEEPALIVE std::byte* ds_alloc(std::size_t size) {
  return static_cast<std::byte*>(std::malloc(size > 0 ? size : 1));
}

/// Handles the request in [message, message + size) and frees it. Returns the size of the response,
/// which stays at ds_reply() until the next request.
EMSCRIPTEN_KEEPALIVE std::size_t ds_request(std::byte* message, std::size_t size) {
  reply() = {};  // before the work: the memory may be needed
  reply() = service().request({message, size});
  std::free(message);
  return reply().size();
}

EMSCRIPTEN_KEEPALIVE const std::byte* ds_reply() { return reply().data(); }

/// Frees the response's memory.
EMSCRIPTEN_KEEPALIVE void ds_release() { reply() = {}; }
}
