// A display of our own for browsers that need one, so that nothing pops up on the user's screen and
// two runs never share one. Client: launcher.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/base/result.hpp"
#include "native/os/child_process.hpp"

namespace driftscope {

class Xvfb {
 public:
  /// On a display number that the X server chooses; its authority file lies in `folder`. Errors:
  /// missing when Xvfb is not installed, io with the end of its log when it does not start.
  [[nodiscard]] static Result<Xvfb> start(const std::filesystem::path& folder);

  /// DISPLAY and XAUTHORITY.
  [[nodiscard]] std::map<std::string, std::string> environment() const;
  [[nodiscard]] const ChildProcess& process() const { return process_; }
  void end() { process_.end(500); }

 private:
  Xvfb(ChildProcess process, std::string display, std::filesystem::path authority);
  ChildProcess process_;
  std::string display_;
  std::filesystem::path authority_;
};

}  // namespace driftscope
