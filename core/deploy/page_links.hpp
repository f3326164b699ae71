// Files that a page's HTML or a script names: what a browser would load, as far as the text says it. Nothing
// is executed: a name that a script puts together is not found. Clients: native/http/page_fetch, the checks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/deploy/page.hpp"

namespace driftscope {

struct PageLink {
  std::string reference;  ///< as in the text: "./app.js"
  PageRole role = PageRole::script;
  bool guessed = false;  ///< a string of a script; else an element of the page
  bool operator==(const PageLink&) const = default;
};

/// Of a path's ending: ".wasm", ".mjs", ".js", ".onnx", ".ort", ".tflite"; nothing for others.
[[nodiscard]] std::optional<PageRole> role_of_path(std::string_view path);

/// <script src>, <link rel=modulepreload|preload href>, and quoted names in scripts of the page, each once.
/// Comments are left out.
[[nodiscard]] std::vector<PageLink> links_of_html(std::string_view html);

/// The href of <base>, against which a page's references are resolved.
[[nodiscard]] std::optional<std::string> base_of_html(std::string_view html);

/// Quoted names with one of the endings above, each once. Pieces of templates ("${…}") are left out.
[[nodiscard]] std::vector<PageLink> links_of_script(std::string_view script);

/// URLs with http: that the HTML loads (not those that it only links to), which a page on https may not.
[[nodiscard]] std::vector<std::string> insecure_loads(std::string_view html);

/// Whether the text registers a service worker, which may add headers to responses.
[[nodiscard]] bool registers_service_worker(std::string_view text);

}  // namespace driftscope
