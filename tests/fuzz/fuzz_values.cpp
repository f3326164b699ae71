// Any bytes as messages of captured values, as a page posts them: each begins with its length in two
// bytes. What arrives is what a sender sent, and never more than the limit.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "core/protocol/value_stream.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace driftscope;
  constexpr std::int64_t limit = 1 << 16;
  std::int64_t received = 0;
  ValueReceiver receiver(
      [&](const std::string&, const Tensor& tensor) -> Status {
        received += static_cast<std::int64_t>(tensor.byte_size());
        return {};
      },
      limit);
  while (size >= 2) {
    const std::size_t length = std::min<std::size_t>(size - 2, data[0] + 256u * data[1]);
    const auto taken = receiver.take(std::as_bytes(std::span(data + 2, length)));
    if (received > limit) std::abort();
    if (!taken.ok()) return 0;
    data += 2 + length;
    size -= 2 + length;
  }
  (void)receiver.finish();
  return 0;
}
