// What an engine may need of a browser beyond the usual (EngineInfo::browser_feature), and which browsers
// have it. Client: browsers. It starts a browser only to ask it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

struct BrowserFeature {
  std::string name;      ///< as in EngineInfo::browser_feature
  std::string title;     ///< "WebNN"
  std::string host;      ///< the kind of browser that may have it
  std::string variable;  ///< environment variable that names a program which has it
  std::string enabled;   ///< for --enable-features
  std::string unpacked;  ///< pattern of the program that tools/setup unpacks, in Driftscope's cache folder
  std::string question;  ///< JavaScript: a promise that rejects where the browser lacks it
};

/// Null: no such feature.
[[nodiscard]] const BrowserFeature* find_browser_feature(std::string_view name);

/// Whether this Chromium has the feature, by starting it on a page that tries it (a second or two; a program
/// is asked once). An error says what it answered.
[[nodiscard]] Status check_browser_feature(const BrowserFeature& feature,
                                           const std::filesystem::path& program);

/// A Chromium that has the feature: $variable, else `usual` if it has it (empty: there is none), else the one
/// that tools/setup unpacked. Errors: missing, with how to install one.
[[nodiscard]] Result<std::filesystem::path> find_browser_with(const BrowserFeature& feature,
                                                              const std::filesystem::path& usual);

}  // namespace driftscope
