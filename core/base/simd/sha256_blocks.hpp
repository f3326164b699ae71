// The compression function of SHA-256, by the processor's own instructions where it has them.
// Client: sha256.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace driftscope {

using Sha256State = std::array<std::uint32_t, 8>;

/// Takes `count` blocks of 64 bytes into the state, FIPS 180-4 section 6.2.2.
void sha256_compress(Sha256State& state, const std::byte* blocks, std::size_t count);

/// The same in portable C++, for the test that both agree.
void sha256_compress_portable(Sha256State& state, const std::byte* blocks, std::size_t count);

}  // namespace driftscope
