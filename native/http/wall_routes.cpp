#include "native/http/wall_routes.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/base/text.hpp"
#include "core/wall/pages.hpp"
#include "native/http/guard.hpp"

namespace driftscope {
namespace {

/// The page of that name; nothing: there is none. Names of pages are compared, no file is opened by them.
std::optional<wall::Page> wall_page(const wall::Wall& wall, std::string_view name) {
  if (name.empty() || name == wall::front_page_name) return wall::front_page(wall);
  const auto model = std::ranges::find(wall.models, name, &wall::Model::page);
  if (model == wall.models.end()) return std::nullopt;
  return wall::model_page(wall, static_cast<std::size_t>(model - wall.models.begin()));
}

void answer_wall(const httplib::Request& request, httplib::Response& response, WallFolder& folder) {
  constexpr std::string_view above = "/wall/";
  const auto wall = folder.read();
  if (!wall.ok()) {
    response.status = 500;
    return response.set_content(harmless(wall.error().message) + "\n", "text/plain; charset=utf-8");
  }
  const auto page = wall_page(**wall, below_token(request.path).substr(above.size()));
  if (!page) {
    response.status = 404;
    return response.set_content("not found\n", "text/plain");
  }
  // The page has its style sheet inside, which the policy of the other pages forbids; no script may run.
  response.headers.erase("Content-Security-Policy");
  response.set_header("Content-Security-Policy", page->policy + "; frame-ancestors 'none'");
  response.set_content(page->html, "text/html; charset=utf-8");
}

}  // namespace

void add_wall_routes(httplib::Server& server, const std::string& owner, WallFolder& folder) {
  server.Get(owner + "/wall", [](const httplib::Request& request, httplib::Response& response) {
    response.set_redirect(request.path + "/", 308);
  });
  server.Get(owner + "/wall/.*", [&folder](const httplib::Request& request, httplib::Response& response) {
    answer_wall(request, response, folder);
  });
}

}  // namespace driftscope
