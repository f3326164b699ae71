#include "core/base/json_lists.hpp"

#include <string>
#include <vector>

namespace driftscope {
namespace {

using nlohmann::json;

/// Follows the parser: the containers that are open, and the current key in each.
class ListParser {
 public:
  ListParser(std::string_view name, const JsonEntry& entry) : name_(name), entry_(entry) {}

  /// Whether `value` is kept.
  bool event(int depth, json::parse_event_t event, json& value) {
    switch (event) {
      case json::parse_event_t::key: keys_.back() = value.get<std::string>(); return true;
      case json::parse_event_t::array_start:
        if (open_depth_ < 0 && !keys_.empty() && keys_.back() == name_) open_depth_ = depth, ++lists_;
        [[fallthrough]];
      case json::parse_event_t::object_start: keys_.emplace_back(); return true;
      case json::parse_event_t::object_end:
        keys_.pop_back();
        if (open_depth_ < 0 || depth != open_depth_ + 1) return true;
        entry_(lists_ - 1, owner(), value);
        return false;
      case json::parse_event_t::array_end:
        keys_.pop_back();
        if (depth == open_depth_) {
          open_depth_ = -1;
          // JSON text never yields a binary value, so this marker is unambiguous.
          if (value.empty()) value = json::binary({}, lists_ - 1);
        }
        return true;
      case json::parse_event_t::value: break;
    }
    return true;
  }

 private:
  /// keys_ ends with the list's own name and the entry's (empty) key.
  [[nodiscard]] std::string_view owner() const {
    for (std::size_t i = keys_.size() - 2; i-- > 0;)
      if (!keys_[i].empty()) return keys_[i];
    return {};
  }

  std::string_view name_;
  const JsonEntry& entry_;
  std::vector<std::string> keys_;
  int open_depth_ = -1;
  std::size_t lists_ = 0;
};

}  // namespace

json parse_json_lists(std::string_view text, std::string_view name, const JsonEntry& entry) {
  ListParser parser(name, entry);
  return json::parse(
      text.begin(), text.end(),
      [&](int depth, json::parse_event_t event, json& value) { return parser.event(depth, event, value); },
      false);
}

std::optional<std::size_t> list_number(const json& value) {
  if (!value.is_binary()) return std::nullopt;
  return static_cast<std::size_t>(value.get_binary().subtype());
}

}  // namespace driftscope
