// Compiled for size on the web (cmake/core.cmake).
#include "core/device/shader_expression.hpp"

#include <charconv>

namespace driftscope::gpu {
namespace {

constexpr int deepest = 32;

// Integers by precedence climbing.
class Expression {
 public:
  Expression(std::string_view text, const ShaderValues& values) : text_(text), values_(values) {}

  std::optional<std::int64_t> value() {
    const auto result = binary(0);
    skip();
    return result && at_ == text_.size() ? result : std::nullopt;
  }

  // The text that a name stands for, if this is one.
  const std::string* text() {
    skip();
    const auto name = this->name();
    skip();
    const auto found = name && at_ == text_.size() ? values_.find(*name) : values_.end();
    return found == values_.end() ? nullptr : std::get_if<std::string>(&found->second);
  }

 private:
  struct Operator {
    std::string_view text;
    int precedence;
  };

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  std::optional<Operator> next_operator() {
    static constexpr Operator operators[] = {{"||", 1}, {"&&", 2}, {"==", 3}, {"!=", 3}, {"<=", 4},
                                             {">=", 4}, {"<", 4},  {">", 4},  {"+", 5},  {"-", 5},
                                             {"*", 6},  {"/", 6},  {"%", 6}};
    skip();
    for (const Operator& it : operators)
      if (text_.substr(at_).starts_with(it.text)) return it;
    return std::nullopt;
  }

  std::optional<std::int64_t> binary(int lowest) {
    auto left = unary();
    while (left) {
      const auto op = next_operator();
      if (!op || op->precedence <= lowest) return left;
      at_ += op->text.size();
      const auto right = binary(op->precedence);
      if (!right) return std::nullopt;
      left = apply(op->text, *left, *right);
    }
    return left;
  }

  static std::optional<std::int64_t> apply(std::string_view op, std::int64_t a, std::int64_t b) {
    if (op == "||") return a != 0 || b != 0;
    if (op == "&&") return a != 0 && b != 0;
    if (op == "==") return a == b;
    if (op == "!=") return a != b;
    if (op == "<=") return a <= b;
    if (op == ">=") return a >= b;
    if (op == "<") return a < b;
    if (op == ">") return a > b;
    std::int64_t result = 0;
    if (op == "+") return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    if (op == "-") return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    if (op == "*") return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    if (b <= 0) return std::nullopt;
    return op == "/" ? a / b : a % b;
  }

  std::optional<std::int64_t> unary() {
    if (++depth_ > deepest) return std::nullopt;
    skip();
    std::optional<std::int64_t> result;
    if (at_ < text_.size() && text_[at_] == '!') {
      ++at_;
      if (const auto inner = unary()) result = *inner == 0;
    } else if (at_ < text_.size() && text_[at_] == '-') {
      ++at_;
      if (const auto inner = unary()) result = apply("-", 0, *inner);
    } else if (at_ < text_.size() && text_[at_] == '(') {
      ++at_;
      result = binary(0);
      skip();
      if (at_ < text_.size() && text_[at_] == ')')
        ++at_;
      else
        result.reset();
    } else {
      result = word();
    }
    --depth_;
    return result;
  }

  // NAME, or NAME[EXPRESSION], which is NAME and the number.
  std::optional<std::string> name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    std::string name(text_.substr(begin, at_ - begin));
    if (name.empty()) return std::nullopt;
    if (at_ == text_.size() || text_[at_] != '[') return name;
    ++at_;
    const auto index = binary(0);
    skip();
    if (!index || at_ == text_.size() || text_[at_] != ']') return std::nullopt;
    ++at_;
    return name + std::to_string(*index);
  }

  std::optional<std::int64_t> word() {
    const auto name = this->name();
    if (!name) return std::nullopt;
    if ((*name)[0] >= '0' && (*name)[0] <= '9') {
      std::int64_t number = 0;
      const char* const last = name->data() + name->size();
      const auto [end, error] = std::from_chars(name->data(), last, number);
      return error == std::errc() && end == last ? std::optional(number) : std::nullopt;
    }
    const auto found = values_.find(*name);
    if (found == values_.end()) return std::nullopt;
    const auto* number = std::get_if<std::int64_t>(&found->second);
    return number == nullptr ? std::nullopt : std::optional(*number);
  }

  std::string_view text_;
  const ShaderValues& values_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<std::int64_t> integer_of(std::string_view expression, const ShaderValues& values) {
  return Expression(expression, values).value();
}

const std::string* text_of(std::string_view expression, const ShaderValues& values) {
  return Expression(expression, values).text();
}

}  // namespace driftscope::gpu
