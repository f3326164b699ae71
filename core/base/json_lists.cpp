#include "core/base/json_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace driftscope {
namespace {

using nlohmann::ordered_json;

/// Follows the parser: the containers that are open, and the current key in each.
class ListParser {
 public:
  ListParser(std::span<const std::string_view> places, const JsonEntry& entry)
      : places_(places), entry_(entry) {}

  /// Whether `value` is kept.
  bool event(int depth, ordered_json::parse_event_t event, ordered_json& value) {
    using Event = ordered_json::parse_event_t;
    switch (event) {
      case Event::key: return key(value.get_ref<const std::string&>());
      case Event::array_start:
        if (open_depth_ < 0) open(depth);
        [[fallthrough]];
      case Event::object_start:
        too_deep_ = too_deep_ || depth >= max_json_depth;
        keys_.emplace_back();
        counts_.push_back(0);
        return true;
      case Event::object_end:
        close();
        if (open_depth_ < 0 || depth != open_depth_ + 1) return true;
        if (!too_deep_) entry_(lists_ - 1, place_, value);
        return false;
      case Event::array_end:
        close();
        if (depth == open_depth_) {
          open_depth_ = -1;
          // JSON text never yields a binary value, so this marker is unambiguous.
          if (value.empty()) value = ordered_json::binary({}, lists_ - 1);
        }
        return true;
      case Event::value: break;
    }
    return true;
  }

  [[nodiscard]] bool too_deep() const { return too_deep_; }
  [[nodiscard]] bool too_many_keys() const { return too_many_keys_; }

 private:
  bool key(const std::string& name) {
    keys_.back() = name;
    // A key is searched for among those before it.
    const bool kept = ++counts_.back() <= max_json_keys;
    too_many_keys_ = too_many_keys_ || !kept;
    return kept;
  }
  void close() {
    keys_.pop_back();
    counts_.pop_back();
  }
  void open(int depth) {
    if (places_.empty()) return;
    std::string place;
    for (const std::string& key : keys_)
      if (!key.empty()) place += (place.empty() ? "" : ".") + key;
    const auto found = std::ranges::find(places_, place);
    // An array directly in the list is an entry of another kind.
    if (found == places_.end() || keys_.back().empty()) return;
    place_ = static_cast<std::size_t>(found - places_.begin());
    open_depth_ = depth;
    ++lists_;
  }

  std::span<const std::string_view> places_;
  const JsonEntry& entry_;
  std::vector<std::string> keys_;
  std::vector<std::size_t> counts_;  // of keys, as keys_
  std::size_t place_ = 0;
  int open_depth_ = -1;
  std::size_t lists_ = 0;
  bool too_deep_ = false;
  bool too_many_keys_ = false;
};

}  // namespace

Result<ordered_json> parse_json_lists(std::string_view text, std::span<const std::string_view> places,
                                      const JsonEntry& entry) {
  ListParser parser(places, entry);
  ordered_json rest = ordered_json::parse(
      text.begin(), text.end(),
      [&](int depth, ordered_json::parse_event_t event, ordered_json& value) {
        return parser.event(depth, event, value);
      },
      false);
  if (rest.is_discarded()) return bad_input("expected JSON");
  if (parser.too_deep())
    return bad_input(fmt::format("expected at most {} objects and lists inside each other", max_json_depth));
  if (parser.too_many_keys())
    return bad_input(fmt::format("expected at most {} keys in an object", max_json_keys));
  return rest;
}

Result<ordered_json> parse_document(std::string_view text) {
  return parse_json_lists(text, {}, [](std::size_t, std::size_t, const ordered_json&) {});
}

std::optional<std::size_t> list_number(const ordered_json& value) {
  if (!value.is_binary()) return std::nullopt;
  return static_cast<std::size_t>(value.get_binary().subtype());
}

}  // namespace driftscope
