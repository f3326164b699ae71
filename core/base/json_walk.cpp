#include "core/base/json_walk.hpp"

#include <nlohmann/json.hpp>
#include <unordered_set>

namespace driftscope {
namespace {

class JsonWalker final : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonWalker(JsonWalk& walk, int deepest) : walk_(walk), deepest_(deepest) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (open_.size() == 1) walk_.order.push_back(name);
    if (!open_.back().insert(name).second && walk_.duplicate.empty()) walk_.duplicate = name;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool open() {
    open_.emplace_back();
    walk_.too_deep = static_cast<int>(open_.size()) > deepest_;
    return !walk_.too_deep;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  JsonWalk& walk_;
  int deepest_;
  std::vector<std::unordered_set<std::string>> open_;  // keys of what is being read
};

}  // namespace

JsonWalk walk_json(std::string_view text, int deepest) {
  JsonWalk walk;
  JsonWalker walker(walk, deepest);
  walk.valid = nlohmann::json::sax_parse(text.begin(), text.end(), &walker) && !walk.too_deep;
  return walk;
}

}  // namespace driftscope
