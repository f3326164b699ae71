// Compiled for size on the web (cmake/core.cmake).
#include "core/device/shader_source.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/device/respell.hpp"
#include "core/device/shader_expression.hpp"

namespace driftscope::gpu {
namespace {

constexpr std::int64_t max_lines = 200'000;
constexpr int max_depth = 32;  // of blocks
constexpr std::string_view wgsl_suffix = ".wgsl";

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

class Preprocessor {
 public:
  Preprocessor(const std::map<std::string_view, std::string_view>& files, const ShaderValues& values,
               bool glsl)
      : files_(files), values_(values), glsl_(glsl) {}

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
    DRIFTSCOPE_TRY(const std::string text, substituted(line));
    std::string_view name = argument({text, line.file, line.number});
    if (name.size() < 3 || name.front() != '"' || name.back() != '"')
      return at_line(line, "expected #include \"file\"");
    name = name.substr(1, name.size() - 2);
    if (name.find('/') != std::string_view::npos) return include(name, &line);
    return include(fmt::format("{}{}", line.file.substr(0, line.file.rfind('/') + 1), name), &line);
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
    const auto value = integer_of(trimmed(text), values_);
    if (!value)
      return at_line(line, fmt::format("'{}' cannot be evaluated: an unknown name, or not an integer "
                                       "expression",
                                       trimmed(text)));
    return *value;
  }

  Status put(const Line& line) {
    if (++lines_ > max_lines) return at_line(line, "the shader becomes too long");
    DRIFTSCOPE_TRY(std::string text, substituted(line));
    if (glsl_ && line.file.ends_with(wgsl_suffix)) {
      auto spelled = respelled(text);
      if (!spelled) return at_line(line, "a declaration that GLSL shares needs its type: let NAME: TYPE");
      text = *std::move(spelled);
    }
    out_ += text;
    out_ += '\n';
    return {};
  }

  Result<std::string> substituted(const Line& line) const {
    std::string made;
    std::string_view rest = line.text;
    for (;;) {
      const auto at = rest.find("${");
      made += rest.substr(0, at);
      if (at == std::string_view::npos) break;
      const auto end = rest.find('}', at);
      if (end == std::string_view::npos) return at_line(line, "${ without }");
      const std::string_view inside = trimmed(rest.substr(at + 2, end - at - 2));
      if (const std::string* const text = text_of(inside, values_)) {
        made += *text;
      } else {
        DRIFTSCOPE_TRY(const std::int64_t value, number(line, inside));
        made += std::to_string(value);
      }
      rest = rest.substr(end + 1);
    }
    return made;
  }

  const std::map<std::string_view, std::string_view>& files_;
  ShaderValues values_;
  bool glsl_;  // it makes GLSL
  std::set<std::string_view> included_;
  std::string out_;
  std::int64_t lines_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<std::string> shader_source(const std::map<std::string_view, std::string_view>& files,
                                  std::string_view file, const ShaderValues& values) {
  Preprocessor preprocessor(files, values, file.ends_with(".glsl"));
  DRIFTSCOPE_CHECK(preprocessor.include(file, nullptr));
  return preprocessor.take();
}

Result<std::string> shader_source(std::string_view file, const ShaderValues& values) {
  return shader_source(shader_files(), file, values);
}

}  // namespace driftscope::gpu
