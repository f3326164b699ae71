// Interactions from a file, for tests and screenshots: a person's actions, line by line.
//
//   size 1280 800 · scale 1.5 · open PATH · drop PATH · view NAME · idle (until no work goes on)
//   key Ctrl+K · type TEXT · mouse X Y · click X Y · drag X Y X2 Y2 · wheel N · frames N
//   shot FILE.png · expect layer NAME | view NAME | error TEXT | noerror | targets N | layers N
//   speed N (draws N frames as fast as it can, prints how long each took) · memory (prints it)
//   demo · stop · # a comment
// The first line that fails ends it. Client: main.
#pragma once

#include <filesystem>

#include "native/gui/desktop_host.hpp"
#include "native/gui/window/window.hpp"

namespace driftscope {

/// Runs the whole file; errors name the line.
[[nodiscard]] Status run_script(const std::filesystem::path& file, Window& window, gui::App& app,
                                DesktopHost& host);

}  // namespace driftscope
