#include "native/text/qr_code.hpp"

#include <qrencode.h>

#include <cerrno>
#include <memory>

namespace driftscope {

Result<QrCode> qr_code(std::string_view text) {
  const auto release = [](QRcode* code) { QRcode_free(code); };
  const std::unique_ptr<QRcode, decltype(release)> made(
      QRcode_encodeString8bit(std::string(text).c_str(), 0, QR_ECLEVEL_M), release);
  if (!made)
    return errno == ERANGE ? limit_error("the text is too long for a QR code")
                           : internal_error("the QR code could not be made");
  QrCode code;
  code.width = static_cast<std::size_t>(made->width);
  for (std::size_t i = 0; i < code.width * code.width; ++i) code.dark.push_back((made->data[i] & 1) != 0);
  return code;
}

}  // namespace driftscope
