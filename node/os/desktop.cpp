#include "native/os/desktop.hpp"

#include "node/system/question.hpp"

namespace driftscope {

Status open_with_desktop(const std::string& url) {
  if (node::ask({{"do", "openWithDesktop"}, {"url", url}}) == true) return {};
  return missing_error("no program of the desktop opens a URL; open it by hand");
}

// As Linux and the BSDs, but not macOS and Windows.
bool has_x_windows() { return node::ask({{"do", "hasXWindows"}}) == true; }

}  // namespace driftscope
