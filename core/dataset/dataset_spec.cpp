#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/text.hpp"
#include "core/dataset/dataset.hpp"

namespace driftscope {
namespace {

struct Prefix {
  std::string_view text;
  DatasetSpec::Format format;
};
constexpr std::array prefixes{
    Prefix{"idx:", DatasetSpec::Format::idx}, Prefix{"cifar10:", DatasetSpec::Format::cifar10},
    Prefix{"imdb:", DatasetSpec::Format::imdb}, Prefix{"images:", DatasetSpec::Format::images}};

const Prefix* prefix_of(std::string_view text) {
  const auto found =
      std::ranges::find_if(prefixes, [text](const Prefix& prefix) { return text.starts_with(prefix.text); });
  return found == prefixes.end() ? nullptr : &*found;
}

Error spec_error(std::string_view text, std::string_view why) {
  return bad_input(
      fmt::format("{}: {}; expected idx:IMAGES,LABELS, cifar10:FILE, imdb:DIR or "
                  "images:DIR, and #17 after it for one sample",
                  in_quotes(text, 200), why));
}

/// The number after the last '#', when there is nothing but digits after it.
std::optional<std::int64_t> take_sample(std::string_view& rest) {
  const std::size_t hash = rest.rfind('#');
  if (hash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = rest.substr(hash + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 0) return std::nullopt;
  rest = rest.substr(0, hash);
  return number;
}

}  // namespace

bool is_dataset_spec(std::string_view text) { return prefix_of(text) != nullptr; }

Result<DatasetSpec> parse_dataset_spec(std::string_view text) {
  const Prefix* prefix = prefix_of(text);
  if (prefix == nullptr) return spec_error(text, "unknown kind of data set");
  DatasetSpec spec;
  spec.format = prefix->format;
  std::string_view rest = text.substr(prefix->text.size());
  spec.sample = take_sample(rest);
  const std::size_t comma = rest.rfind(',');
  if (spec.format == DatasetSpec::Format::idx && comma != std::string_view::npos) {
    spec.labels = rest.substr(comma + 1);
    rest = rest.substr(0, comma);
    if (spec.labels.empty()) return spec_error(text, "the file of labels is missing");
  }
  spec.images = rest;
  if (spec.images.empty()) return spec_error(text, "the file or folder is missing");
  if (spec.format == DatasetSpec::Format::idx && !spec.sample && spec.labels.empty())
    return spec_error(text, "a whole data set needs labels, one sample of it a #number");
  return spec;
}

}  // namespace driftscope
