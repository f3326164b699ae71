#include "native/http/one_visit.hpp"

#include <string_view>
#include <utility>

#include "native/http/cookies.hpp"
#include "native/os/token.hpp"

namespace driftscope {
namespace {

constexpr std::string_view cookie_name = "driftscope";

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
  if (same_token(cookie(cookies, cookie_name), secret_)) return Answer::again;
  return opens_the_page && !used_.exchange(true) ? Answer::first : Answer::refused;
}

std::string OneVisit::set_cookie() const {
  return std::string(cookie_name) + "=" + secret_ + "; Path=/" + segment_ + "/; HttpOnly; SameSite=Strict";
}

}  // namespace driftscope
