// The session service as C functions: what the worker calls. Client: web/worker/engine.mjs.
// Bytes go in and out through the wasm heap; nothing here interprets them.
#include <emscripten.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "core/model/alive_tensors.hpp"
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

// By default all that 32 bits address, in whole pages.
std::atomic<std::uint32_t> heap_limit = 0xffff0000u;

std::vector<std::byte>& reply() {
  static std::vector<std::byte> bytes;
  return bytes;
}

}  // namespace

extern "C" {

/// From here on, tensors take at most `bytes` together, and the whole heap `heap` bytes.
EMSCRIPTEN_KEEPALIVE void ds_limit_memory(double bytes, double heap) {
  driftscope::limit_alive_tensors(static_cast<std::int64_t>(bytes), "Memory on the plain page, --max-memory");
  heap_limit = static_cast<std::uint32_t>(heap);
}

/// What web/platform/heap_limit.js asks whenever the heap grows, on any thread.
EMSCRIPTEN_KEEPALIVE std::uint32_t ds_heap_limit() { return heap_limit; }

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
