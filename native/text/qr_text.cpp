#include "native/text/qr_code.hpp"

namespace driftscope {

std::string qr_text(const QrCode& code, bool colours) {
  constexpr std::size_t margin = 4;
  const std::size_t width = code.width + 2 * margin;
  const auto dark = [&](std::size_t x, std::size_t y) {
    return x >= margin && y >= margin && x < margin + code.width && y < margin + code.width &&
           code.at(x - margin, y - margin);
  };
  std::string text;
  for (std::size_t y = 0; y < width; y += 2) {
    if (colours) text += "\033[38;2;0;0;0;48;2;255;255;255m";
    for (std::size_t x = 0; x < width; ++x) {
      const bool upper = dark(x, y);
      const bool lower = dark(x, y + 1);
      text += upper && lower ? "█" : upper ? "▀" : lower ? "▄" : " ";
    }
    text += colours ? "\033[0m\n" : "\n";
  }
  return text;
}

}  // namespace driftscope
