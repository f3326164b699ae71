// From where a front (hub_front.hpp) connects to the server: an address of the loopback interface that
// nothing else uses, so that the server knows what came from other machines, whatever its headers say.
// Another program here that takes it may do less, not more. Clients: loopback, tls/passage.
#pragma once

#include <cstdint>

namespace driftscope {

inline constexpr std::uint32_t front_source = 0x7F000002;
inline constexpr const char* front_source_text = "127.0.0.2";

}  // namespace driftscope
