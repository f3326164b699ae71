// Errors as the schema's object "error", and back. Clients: the service, batches.
#pragma once

#include "core/base/result.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {

[[nodiscard]] messages::Error error_message(const Error& error);
/// A long message is cut.
[[nodiscard]] Error error_of(const messages::Error& message);

}  // namespace driftscope
