#include "native/http/one_visit.hpp"

#include <string_view>
#include <utility>

#include "native/os/token.hpp"

namespace driftscope {
namespace {

constexpr std::string_view cookie_name = "driftscope=";

/// Whether one of the pairs of a Cookie header ("a=1; driftscope=…") is ours.
bool holds(std::string_view header, std::string_view secret) {
  while (!header.empty()) {
    const std::size_t end = header.find(';');
    std::string_view pair = header.substr(0, end);
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    if (pair.starts_with(cookie_name) && same_token(pair.substr(cookie_name.size()), secret)) return true;
    if (end == std::string_view::npos) return false;
    header.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace

Result<OneVisit> OneVisit::make() {
  DRIFTSCOPE_TRY(std::string segment, random_token());
  DRIFTSCOPE_TRY(std::string secret, random_token());
  return OneVisit(std::move(segment), std::move(secret));
}

OneVisit::OneVisit(std::string segment, std::string secret)
    : segment_(std::move(segment)), secret_(std::move(secret)) {}

OneVisit::OneVisit(OneVisit&& other) noexcept
    : segment_(std::move(other.segment_)), secret_(std::move(other.secret_)), used_(other.used_.load()) {}

OneVisit::Answer OneVisit::ask(bool opens_the_page, const std::vector<std::string>& cookies) {
  for (const std::string& header : cookies)
    if (holds(header, secret_)) return Answer::again;
  return opens_the_page && !used_.exchange(true) ? Answer::first : Answer::refused;
}

std::string OneVisit::set_cookie() const {
  return std::string(cookie_name) + secret_ + "; Path=/" + segment_ + "/; HttpOnly; SameSite=Strict";
}

}  // namespace driftscope
