#include "native/cli/link_text.hpp"

#include "native/cli/console.hpp"
#include "native/text/qr_code.hpp"

namespace driftscope {

void show_link(const std::string& url, std::chrono::seconds life) {
  print_out(
      "\nOpen this link on the device within {} minutes, and press Join. It is good for one browser, the "
      "first "
      "that joins.\n\n",
      std::chrono::duration_cast<std::chrono::minutes>(life).count());
  // Nothing but blocks and colours: print_out would take the colours away.
  const auto code = is_terminal(stdout) ? qr_code(url) : Result<QrCode>(missing_error(""));
  if (code.ok()) {
    const std::string text = qr_text(*code, true);
    std::fwrite(text.data(), 1, text.size(), stdout);
    print_out("\n");
  }
  print_out("    {}\n\n", url);
  std::fflush(stdout);
}

}  // namespace driftscope
