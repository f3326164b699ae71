#include "core/device/shader_source.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace driftscope::gpu {
namespace {

constexpr std::int64_t max_lines = 200'000;
constexpr int max_depth = 32;

struct Line {
  std::string_view text;
  std::string_view file;
  int number = 0;
};

Error at_line(const Line& line, std::string_view what) {
  return internal_error(fmt::format("shader {}:{}: {}", line.file, line.number, what));
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Integers by precedence climbing.
class Expression {
 public:
  Expression(std::string_view text, const ShaderValues& values) : text_(text), values_(values) {}

  std::optional<std::int64_t> value() {
    const auto result = binary(0);
    skip();
    return result && at_ == text_.size() ? result : std::nullopt;
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
    if (++depth_ > max_depth) return std::nullopt;
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

  std::optional<std::int64_t> word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name.empty()) return std::nullopt;
    if (name[0] >= '0' && name[0] <= '9') {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
      return error == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
    }
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    const auto* number = std::get_if<std::int64_t>(&found->second);
    return number == nullptr ? std::nullopt : std::optional(*number);
  }

  std::string_view text_;
  const ShaderValues& values_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

class Preprocessor {
 public:
  Preprocessor(const std::map<std::string_view, std::string_view>& files, const ShaderValues& values)
      : files_(files), values_(values) {}

  Status include(std::string_view file, const Line* from) {
    const auto found = files_.find(file);
    if (found == files_.end()) {
      const std::string what = fmt::format("there is no shader {}", file);
      return from == nullptr ? internal_error(what) : at_line(*from, what);
    }
    if (!included_.insert(found->first).second) return {};
    std::vector<Line> lines;
    std::string_view rest = found->second;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      lines.push_back({rest.substr(0, end), found->first, static_cast<int>(lines.size()) + 1});
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    return block(lines);
  }

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  static std::string_view directive(const Line& line) {
    const std::string_view text = trimmed(line.text);
    if (!text.starts_with('#')) return {};
    return text.substr(0, text.find_first_of(" \t("));
  }
  static std::string_view argument(const Line& line) {
    const std::string_view text = trimmed(line.text);
    const auto at = text.find_first_of(" \t(");
    return at == std::string_view::npos ? std::string_view() : trimmed(text.substr(at));
  }

  // The line that ends the block begun at `begin`, or where its next part begins.
  static std::optional<std::size_t> end_of(std::span<const Line> lines, std::size_t begin, bool parts) {
    const bool loop = directive(lines[begin]) == "#for";
    int depth = 0;
    for (std::size_t i = begin + 1; i < lines.size(); ++i) {
      const std::string_view word = directive(lines[i]);
      if (word == "#if" || word == "#for") ++depth;
      if (depth == 0 && parts && !loop && (word == "#elif" || word == "#else")) return i;
      if (word == "#endif" || word == "#end") {
        if (depth == 0) return (word == "#end") == loop ? std::optional(i) : std::nullopt;
        --depth;
      }
    }
    return std::nullopt;
  }

  Status block(std::span<const Line> lines) {
    if (++depth_ > max_depth) return internal_error("shader: blocks are nested too deeply");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Line& line = lines[i];
      const std::string_view word = directive(line);
      if (word == "#include") {
        DRIFTSCOPE_CHECK(include_of(line));
      } else if (word == "#if") {
        DRIFTSCOPE_TRY(i, choose(lines, i));
      } else if (word == "#for") {
        DRIFTSCOPE_TRY(i, repeat(lines, i));
      } else if (word == "#else" || word == "#elif" || word == "#endif" || word == "#end") {
        return at_line(line, fmt::format("{} has no opening directive", word));
      } else {
        DRIFTSCOPE_CHECK(put(line));
      }
    }
    --depth_;
    return {};
  }

  Status include_of(const Line& line) {
    const std::string_view name = argument(line);
    if (name.size() < 3 || name.front() != '"' || name.back() != '"')
      return at_line(line, "expected #include \"file\"");
    const std::string_view folder = line.file.substr(0, line.file.rfind('/') + 1);
    return include(std::string(folder) + std::string(name.substr(1, name.size() - 2)), &line);
  }

  Result<std::size_t> choose(std::span<const Line> lines, std::size_t begin) {
    bool done = false;
    std::size_t part = begin;
    for (;;) {
      const auto next = end_of(lines, part, true);
      if (!next) return at_line(lines[begin], "#if without #endif");
      bool taken = directive(lines[part]) == "#else";
      if (!taken && !done) {
        DRIFTSCOPE_TRY(const std::int64_t condition, number(lines[part], argument(lines[part])));
        taken = condition != 0;
      }
      if (taken && !done) {
        DRIFTSCOPE_CHECK(block(lines.subspan(part + 1, *next - part - 1)));
        done = true;
      }
      if (directive(lines[*next]) == "#endif") return *next;
      part = *next;
    }
  }

  Result<std::size_t> repeat(std::span<const Line> lines, std::size_t begin) {
    const Line& line = lines[begin];
    const auto end = end_of(lines, begin, false);
    if (!end) return at_line(line, "#for without #end");
    const std::string_view text = argument(line);
    const auto in = text.find(" in ");
    const auto dots = text.find("..");
    if (in == std::string_view::npos || dots == std::string_view::npos || dots < in)
      return at_line(line, "expected #for NAME in A..B");
    const std::string name(trimmed(text.substr(0, in)));
    DRIFTSCOPE_TRY(const std::int64_t first, number(line, text.substr(in + 4, dots - in - 4)));
    DRIFTSCOPE_TRY(const std::int64_t last, number(line, text.substr(dots + 2)));
    if (values_.contains(name)) return at_line(line, fmt::format("{} is defined already", name));
    for (std::int64_t i = first; i < last; ++i) {
      values_[name] = i;
      DRIFTSCOPE_CHECK(block(lines.subspan(begin + 1, *end - begin - 1)));
    }
    values_.erase(name);
    return *end;
  }

  Result<std::int64_t> number(const Line& line, std::string_view text) const {
    const auto value = Expression(trimmed(text), values_).value();
    if (!value)
      return at_line(line, fmt::format("'{}' cannot be evaluated: an unknown name, or not an integer "
                                       "expression",
                                       trimmed(text)));
    return *value;
  }

  Status put(const Line& line) {
    if (++lines_ > max_lines) return at_line(line, "the shader becomes too long");
    std::string_view rest = line.text;
    for (;;) {
      const auto at = rest.find("${");
      out_ += rest.substr(0, at);
      if (at == std::string_view::npos) break;
      const auto end = rest.find('}', at);
      if (end == std::string_view::npos) return at_line(line, "${ without }");
      const std::string_view inside = trimmed(rest.substr(at + 2, end - at - 2));
      const auto found = values_.find(inside);
      if (found != values_.end() && std::holds_alternative<std::string>(found->second)) {
        out_ += std::get<std::string>(found->second);
      } else {
        DRIFTSCOPE_TRY(const std::int64_t value, number(line, inside));
        out_ += std::to_string(value);
      }
      rest = rest.substr(end + 1);
    }
    out_ += '\n';
    return {};
  }

  const std::map<std::string_view, std::string_view>& files_;
  ShaderValues values_;
  std::set<std::string_view> included_;
  std::string out_;
  std::int64_t lines_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<std::string> shader_source(const std::map<std::string_view, std::string_view>& files,
                                  std::string_view file, const ShaderValues& values) {
  Preprocessor preprocessor(files, values);
  DRIFTSCOPE_CHECK(preprocessor.include(file, nullptr));
  return preprocessor.take();
}

Result<std::string> shader_source(std::string_view file, const ShaderValues& values) {
  return shader_source(shader_files(), file, values);
}

}  // namespace driftscope::gpu
