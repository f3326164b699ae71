#include "core/dataset/npy_header.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

/// Reads the text from the front, one token after the other.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Result<NpyHeader> header() {
    DRIFTSCOPE_CHECK(expect('{'));
    while (!accept('}')) {
      DRIFTSCOPE_TRY(const std::string key, string());
      DRIFTSCOPE_CHECK(expect(':'));
      DRIFTSCOPE_CHECK(value(key));
      if (accept(',')) continue;
      DRIFTSCOPE_CHECK(expect('}'));
      break;
    }
    skip_space();
    if (!rest_.empty()) return wrong("the end");
    if (!has_descr_ || !has_order_ || !has_shape_)
      return bad_input("it needs descr, fortran_order and shape");
    return std::move(made_);
  }

 private:
  Status value(const std::string& key) {
    bool& has = key == "descr" ? has_descr_ : key == "shape" ? has_shape_ : has_order_;
    if (key != "descr" && key != "shape" && key != "fortran_order")
      return bad_input(fmt::format("unknown key {}", in_quotes(key)));
    if (has) return bad_input(fmt::format("key {} is given twice", in_quotes(key)));
    has = true;
    if (key == "shape") return shape();
    if (key == "fortran_order") return boolean();
    skip_space();
    if (rest_.starts_with('[')) return unsupported("structured arrays are not supported");
    DRIFTSCOPE_TRY(made_.descr, string());
    return {};
  }

  Status boolean() {
    skip_space();
    made_.fortran_order = rest_.starts_with("True");
    const std::string_view word = made_.fortran_order ? "True" : "False";
    if (!rest_.starts_with(word)) return wrong("True or False");
    rest_.remove_prefix(word.size());
    return {};
  }

  Status shape() {
    DRIFTSCOPE_CHECK(expect('('));
    while (!accept(')')) {
      skip_space();
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc() || size < 0) return wrong("a size");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      accept('L');  // written by Python 2
      made_.shape.push_back(size);
      if (made_.shape.size() > max_rank) return limit_error("more dimensions than supported");
      if (accept(',')) continue;
      DRIFTSCOPE_CHECK(expect(')'));
      break;
    }
    return {};
  }

  Result<std::string> string() {
    skip_space();
    if (!rest_.starts_with('\'') && !rest_.starts_with('"')) return wrong("a quoted text");
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return wrong("a closed text");
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  void skip_space() {
    const std::size_t start = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(start == std::string_view::npos ? rest_.size() : start);
  }

  bool accept(char c) {
    skip_space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  Status expect(char c) {
    if (accept(c)) return {};
    return wrong(fmt::format("'{}'", c));
  }

  [[nodiscard]] Error wrong(std::string_view expected) const {
    return bad_input(fmt::format("expected {} at {}", expected, in_quotes(rest_, 20)));
  }

  std::string_view rest_;
  NpyHeader made_;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view text) {
  auto header = Parser(text).header();
  if (!header.ok()) return in_context(std::move(header).error(), "header");
  return header;
}

}  // namespace driftscope
