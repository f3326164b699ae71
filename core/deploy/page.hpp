// A page and the files that it names, as a server answered: what checks of a page see. Filled in by
// native/http/page_fetch; tests make them by hand. It knows no network.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace driftscope {

enum class PageRole { page, script, module, wasm, model, data };
[[nodiscard]] std::string_view role_name(PageRole role);

/// One response.
struct PageFile {
  std::string url = {};
  PageRole role = PageRole::page;
  std::string named_by = {};  ///< URL of the file that names it
  /// Named by a string of a script, whose code may put a folder before it: its absence proves little.
  bool guessed = false;
  int status = 0;                                                ///< of HTTP; 0: no answer
  std::string failure = {};                                      ///< why there is no answer
  std::map<std::string, std::string, std::less<>> headers = {};  ///< names in lower case
  std::optional<std::int64_t> bytes = {};                        ///< as transferred; nothing: not known
  std::string text = {};                                         ///< of a page or script, decoded

  [[nodiscard]] bool ok() const { return status >= 200 && status < 300; }
  /// Empty where there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
  /// Content-Type without parameters, in lower case.
  [[nodiscard]] std::string media_type() const;
};

struct DeployPage {
  std::string url;                          ///< as given
  std::vector<PageFile> files;              ///< the page itself first, with its URL after redirects
  std::vector<std::string> elsewhere = {};  ///< URLs of other origins that it loads, which were not fetched
  bool incomplete = false;                  ///< more files are named than were fetched

  [[nodiscard]] const PageFile& page() const { return files.front(); }
};

}  // namespace driftscope
