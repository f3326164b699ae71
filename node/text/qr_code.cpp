// Under Node the link alone is printed.
#include "native/text/qr_code.hpp"

namespace driftscope {

Result<QrCode> qr_code(std::string_view /*text*/) { return missing_error("no QR codes under Node"); }

}  // namespace driftscope
