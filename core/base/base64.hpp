// Bytes as text. Clients: pictures in reports, texts in a GraphDef's JSON.
#pragma once

#include <string>

namespace driftscope {

/// RFC 4648 base64.
[[nodiscard]] std::string base64(const std::string& bytes);

}  // namespace driftscope
