#include "native/http/send.hpp"

#include <algorithm>
#include <utility>

#include "core/base/json.hpp"

namespace driftscope {
namespace {

// Of httplib's ranges: −1 stands for a bound that is not given; first alone missing: so many from the end.
bool is_inside(const httplib::Range& range, std::size_t size) {
  const auto [first, last] = range;
  const auto end = static_cast<ssize_t>(size);
  if (first < 0) return last > 0 && last <= end;
  return first < end && (last < 0 || (first <= last && last < end));
}

}  // namespace

void send_content(const httplib::Request& request, httplib::Response& response, std::span<const char> content,
                  std::shared_ptr<const void> owner, const std::string& content_type) {
  if (!std::ranges::all_of(request.ranges,
                           [&](const httplib::Range& range) { return is_inside(range, content.size()); })) {
    response.status = 416;
    response.set_header("Content-Range", "bytes */" + std::to_string(content.size()));
    return response.set_content("no such range\n", "text/plain");
  }
  if (content.empty()) return response.set_content("", content_type);
  // With a provider, since httplib would compress its own content once more.
  response.set_content_provider(
      content.size(), content_type,
      [content, owner = std::move(owner)](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
        constexpr std::size_t piece = 1 << 20;
        if (offset > content.size()) return false;
        return sink.write(content.data() + offset, std::min({length, piece, content.size() - offset}));
      });
}

void send_json(httplib::Response& response, const nlohmann::json& value) {
  response.set_content(json_text(value), "application/json");
}

}  // namespace driftscope
