// `driftscope serve`: the page for a browser that the user opens. Client: the command line.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "core/base/result.hpp"
#include "native/http/run_elsewhere.hpp"

namespace driftscope {

struct ServeOptions {
  std::filesystem::path site;          ///< from find_site
  std::filesystem::path traces;        ///< folder for the traces that pages send; created for the first one
  std::filesystem::path results = {};  ///< folder of comparisons that wall/ shows; empty: none
  int port = 0;
  bool open = false;  ///< open the page with the desktop's browser (xdg-open), for one visit
  bool hub = false;   ///< browsers elsewhere can join by a link
  BeginRunElsewhere begin_elsewhere = {};  ///< as of ServerOptions, with `hub`
  std::string public_origin = {};          ///< as of ServerOptions
  std::string listen = {};  ///< with `hub`: other machines reach it at ADDRESS[:PORT]; empty: they do not
  /// With `hub`: shows a link by which a browser can join.
  std::function<void(const std::string& url, std::chrono::seconds life)> show_link = {};
  /// Called once with the URL, then with a line for each trace that came; may print.
  std::function<void(const std::string&)> say;
};

/// Serves until SIGINT, SIGTERM or SIGHUP (main must hold a SignalWatcher), then stops gracefully.
[[nodiscard]] Status serve(const ServeOptions& options);

}  // namespace driftscope
