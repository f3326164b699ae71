#include "core/device/respell.hpp"

#include <fmt/format.h>

#include "core/device/shader_expression.hpp"

namespace driftscope::gpu {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view line) : rest_(line) {}

  [[nodiscard]] std::string_view rest() const { return rest_; }

  std::string_view take(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view word() {
    std::size_t size = 0;
    while (size < rest_.size() && is_word(rest_[size])) ++size;
    return take(size);
  }

  // Behind spaces.
  bool takes(std::string_view text) {
    skip();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  // "name: type" → "type name".
  std::optional<std::string> declaration() {
    skip();
    const std::string_view name = word();
    const bool typed = takes(":");
    skip();
    const std::string_view type = word();
    if (name.empty() || !typed || type.empty()) return std::nullopt;
    return fmt::format("{} {}", type, name);
  }

  // "name(a: type, …) -> type" → "type name(type a, …)".
  std::optional<std::string> function() {
    skip();
    const std::string_view name = word();
    if (!takes("(")) return std::nullopt;
    std::string parameters;
    while (!takes(")")) {
      if (!parameters.empty()) {
        if (!takes(",")) return std::nullopt;
        parameters += ", ";
      }
      const auto parameter = declaration();
      if (!parameter) return std::nullopt;
      parameters += *parameter;
    }
    if (!takes("->")) return std::nullopt;
    skip();
    return fmt::format("{} {}({})", word(), name, parameters);
  }

 private:
  void skip() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::string> respelled(std::string_view line) {
  Reader reader(line);
  std::string out;
  while (!reader.rest().empty()) {
    if (reader.rest().starts_with("//")) return out.append(reader.rest());
    if (!is_word(reader.rest().front())) {
      out += reader.take(1);
      continue;
    }
    const std::string_view word = reader.word();
    if (word != "let" && word != "var" && word != "fn") {
      out += word;
      continue;
    }
    const auto declared = word == "fn" ? reader.function() : reader.declaration();
    if (!declared) return std::nullopt;
    out += *declared;
  }
  return out;
}

}  // namespace driftscope::gpu
