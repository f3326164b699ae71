#include "native/browser/chromium_flags.hpp"

namespace driftscope {

std::vector<std::string> chromium_flags(const std::filesystem::path& profile) {
  return {"--headless=new", "--user-data-dir=" + profile.string(), "--no-first-run",
          "--no-default-browser-check", "--password-store=basic", "--proxy-server=http://127.0.0.1:9",
          "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--disable-quic",
          "--disable-background-networking", "--disable-client-side-phishing-detection",
          "--disable-component-extensions-with-background-pages", "--disable-component-update",
          "--disable-default-apps", "--disable-domain-reliability", "--disable-extensions", "--disable-sync",
          "--no-pings",
          // a page that nobody sees would be slowed down, and its signs of life with it
          "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
          "--disable-renderer-backgrounding"};
}

}  // namespace driftscope
