#include "core/deploy/page_links.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <utility>

namespace driftscope {
namespace {

constexpr std::size_t longest_reference = 2048;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

std::string lower_name(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return result;
}

struct Tag {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string_view content;  ///< of a script: what follows up to its end

  [[nodiscard]] std::string_view attribute(std::string_view wanted) const {
    for (const auto& [key, value] : attributes)
      if (key == wanted) return value;
    return {};
  }
};

/// Walks over the tags of HTML in one pass; damaged ones end where the text ends.
class TagReader {
 public:
  explicit TagReader(std::string_view html) : html_(html) {}

  std::optional<Tag> next() {
    while (true) {
      at_ = html_.find('<', at_);
      if (at_ >= html_.size()) return std::nullopt;
      if (html_.substr(at_).starts_with("<!--")) {
        skip_past("-->", at_ + 4);
        continue;
      }
      ++at_;
      if (at_ < html_.size() && std::isalpha(static_cast<unsigned char>(html_[at_])) != 0) return tag();
    }
  }

 private:
  void skip_past(std::string_view end, std::size_t from) {
    const std::size_t found = html_.find(end, std::min(from, html_.size()));
    at_ = found == std::string_view::npos ? html_.size() : found + end.size();
  }
  void skip_spaces() {
    while (at_ < html_.size() && (is_space(html_[at_]) || html_[at_] == '/')) ++at_;
  }
  std::string_view word(std::string_view ends) {
    const std::size_t from = at_;
    while (at_ < html_.size() && !is_space(html_[at_]) && ends.find(html_[at_]) == std::string_view::npos)
      ++at_;
    return html_.substr(from, at_ - from);
  }
  std::string_view value() {
    if (at_ < html_.size() && (html_[at_] == '"' || html_[at_] == '\'')) {
      const std::size_t from = at_ + 1;
      const std::size_t end = std::min(html_.find(html_[at_], from), html_.size());
      at_ = std::min(end + 1, html_.size());
      return html_.substr(from, end - from);
    }
    return word(">");
  }
  Tag tag() {
    Tag tag{.name = lower_name(word("/>")), .attributes = {}, .content = {}};
    for (skip_spaces(); at_ < html_.size() && html_[at_] != '>'; skip_spaces()) {
      std::string key = lower_name(word("=/>"));
      while (at_ < html_.size() && is_space(html_[at_])) ++at_;
      std::string_view text;
      if (at_ < html_.size() && html_[at_] == '=') {
        ++at_;
        while (at_ < html_.size() && is_space(html_[at_])) ++at_;
        text = value();
      }
      tag.attributes.emplace_back(std::move(key), text);
    }
    at_ = std::min(at_ + 1, html_.size());
    if (tag.name == "script") {
      const std::size_t end = std::min(html_.find("</script", at_), html_.size());
      tag.content = html_.substr(at_, end - at_);
      at_ = end;
    }
    return tag;
  }

  std::string_view html_;
  std::size_t at_ = 0;
};

void for_tags(std::string_view html, const std::function<void(const Tag&)>& see) {
  TagReader reader(html);
  while (const auto tag = reader.next()) see(*tag);
}

void add_once(std::vector<PageLink>& links, PageLink link) {
  const auto same = std::ranges::find(links, link.reference, &PageLink::reference);
  if (same == links.end())
    links.push_back(std::move(link));
  else
    same->guessed = same->guessed && link.guessed;
}

/// The reference of a tag that loads a file, and what it is.
std::optional<PageLink> link_of(const Tag& tag) {
  if (tag.name == "script") {
    if (tag.attribute("src").empty()) return std::nullopt;
    const bool module = lower_name(tag.attribute("type")) == "module";
    return PageLink{std::string(tag.attribute("src")), module ? PageRole::module : PageRole::script};
  }
  if (tag.name != "link" || tag.attribute("href").empty()) return std::nullopt;
  const std::string rel = lower_name(tag.attribute("rel"));
  const std::string href(tag.attribute("href"));
  if (rel == "modulepreload") return PageLink{href, PageRole::module};
  const auto role = role_of_path(href);
  if ((rel != "preload" && rel != "prefetch") || !role) return std::nullopt;
  return PageLink{href, *role};
}

bool can_be_reference(std::string_view text) {
  if (text.size() > longest_reference || text.find("${") != std::string_view::npos) return false;
  // An ending alone is what a script appends to a name.
  const std::size_t name = text.find_last_of('/') + 1;
  if (name >= text.size() || text[name] == '.') return false;
  return std::ranges::all_of(text, [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != 0x7f &&
           std::string_view("\"'`<>\\(){},;*|^").find(c) == std::string_view::npos;
  });
}

}  // namespace

std::optional<PageRole> role_of_path(std::string_view path) {
  path = path.substr(0, path.find_first_of("?#"));
  constexpr std::array<std::pair<std::string_view, PageRole>, 7> endings = {{{".wasm", PageRole::wasm},
                                                                             {".mjs", PageRole::module},
                                                                             {".js", PageRole::script},
                                                                             {".onnx", PageRole::model},
                                                                             {".ort", PageRole::model},
                                                                             {".tflite", PageRole::model},
                                                                             {".onnx_data", PageRole::data}}};
  for (const auto& [ending, role] : endings)
    if (path.ends_with(ending)) return role;
  return std::nullopt;
}

std::vector<PageLink> links_of_html(std::string_view html) {
  std::vector<PageLink> links;
  for_tags(html, [&](const Tag& tag) {
    if (auto link = link_of(tag)) add_once(links, *std::move(link));
    if (!tag.content.empty())
      for (PageLink& link : links_of_script(tag.content)) add_once(links, std::move(link));
  });
  return links;
}

std::optional<std::string> base_of_html(std::string_view html) {
  std::optional<std::string> base;
  for_tags(html, [&](const Tag& tag) {
    if (!base && tag.name == "base" && !tag.attribute("href").empty())
      base = std::string(tag.attribute("href"));
  });
  return base;
}

std::vector<PageLink> links_of_script(std::string_view script) {
  std::vector<PageLink> links;
  // From one quotation mark to the next of any kind: an apostrophe in a comment costs one name at most.
  std::size_t from = std::string_view::npos;
  for (std::size_t at = 0; at < script.size(); ++at) {
    const char c = script[at];
    if (c != '"' && c != '\'' && c != '`') continue;
    if (from != std::string_view::npos) {
      const std::string_view text = script.substr(from, at - from);
      if (const auto role = role_of_path(text); role && can_be_reference(text))
        add_once(links, {std::string(text), *role, true});
    }
    from = at + 1;
  }
  return links;
}

std::vector<std::string> insecure_loads(std::string_view html) {
  std::vector<std::string> urls;
  for_tags(html, [&](const Tag& tag) {
    std::string_view url = tag.name == "a" ? std::string_view() : tag.attribute("src");
    const std::string rel = lower_name(tag.attribute("rel"));
    if (tag.name == "link" &&
        (rel.find("stylesheet") != std::string::npos || rel.find("load") != std::string::npos))
      url = tag.attribute("href");
    if (lower_name(url.substr(0, 5)) == "http:") urls.emplace_back(url);
  });
  return urls;
}

bool registers_service_worker(std::string_view text) {
  return text.find("serviceWorker") != std::string_view::npos &&
         text.find(".register(") != std::string_view::npos;
}

}  // namespace driftscope
