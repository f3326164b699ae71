// QR codes (ISO/IEC 18004), by libqrencode. Clients: serve --hub, devices, the window.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

struct QrCode {
  std::size_t width = 0;   ///< modules in a row, without the margin
  std::vector<bool> dark;  ///< row by row
  [[nodiscard]] bool at(std::size_t x, std::size_t y) const { return dark[y * width + x]; }
};

/// The smallest one for the text, with correction level M. Errors: it is too long; this program has no QR
/// codes (under Node).
[[nodiscard]] Result<QrCode> qr_code(std::string_view text);

/// Lines of half blocks with the margin of four modules. `colours`: black on white by escape sequences,
/// whatever colours the terminal has; otherwise as blocks that are dark where the text is.
[[nodiscard]] std::string qr_text(const QrCode& code, bool colours);

}  // namespace driftscope
