#include "core/report/page.hpp"

#include <span>

#include "core/base/base64.hpp"
#include "core/base/format.hpp"
#include "core/base/sha256.hpp"
#include "core/report/report_style.hpp"

namespace driftscope {
namespace {

/// The hash as a policy names it.
std::string sha256_base64(const std::string& text) {
  const std::string hex = sha256_hex(std::as_bytes(std::span(text)));
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return base64(bytes);
}

}  // namespace

std::string page_policy(const std::string& style) {
  return "default-src 'none'; style-src 'sha256-" + sha256_base64(style) +
         "'; img-src data:; base-uri 'none'; form-action 'none'";
}

std::string page_html(const std::string& title, std::string_view style, const std::string& main) {
  const std::string whole = report_style() + std::string(style);
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
         page_policy(whole) +
         "\">"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
         "<meta name=\"generator\" content=\"Driftscope\"><meta name=\"color-scheme\" content=\"light dark\">"
         "<title>" +
         html_text(title, 300) + "</title><style>" + whole +
         "</style></head><body><a class=\"skip\" href=\"#main\">Skip to the result</a><main id=\"main\">" +
         main + "</main></body></html>\n";
}

}  // namespace driftscope
