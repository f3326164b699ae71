#include <fmt/format.h>

#include <charconv>

#include "core/base/text.hpp"
#include "core/dataset/dataset_format.hpp"

namespace driftscope {
namespace {

const DatasetFormat* format_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon == std::string_view::npos ? nullptr : dataset_format_table().find(text.substr(0, colon));
}

Error spec_error(std::string_view text, std::string_view why) {
  return bad_input(fmt::format("{}: {}; expected {}, and #17 after it for one sample", in_quotes(text, 200),
                               why, dataset_forms()));
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

bool is_dataset_spec(std::string_view text) { return format_of(text) != nullptr; }

Result<DatasetSpec> parse_dataset_spec(std::string_view text) {
  const DatasetFormat* const format = format_of(text);
  if (format == nullptr) return spec_error(text, "unknown kind of data set");
  DatasetSpec spec;
  spec.format = format->name;
  std::string_view rest = text.substr(format->name.size() + 1);
  spec.sample = take_sample(rest);
  const std::size_t comma = rest.rfind(',');
  if (format->labels_apart && comma != std::string_view::npos) {
    spec.labels = rest.substr(comma + 1);
    rest = rest.substr(0, comma);
    if (spec.labels.empty()) return spec_error(text, "the file of labels is missing");
  }
  spec.images = rest;
  if (spec.images.empty()) return spec_error(text, "the file or folder is missing");
  if (format->labels_apart && !spec.sample && spec.labels.empty())
    return spec_error(text, "a whole data set needs labels, one sample of it a #number");
  return spec;
}

}  // namespace driftscope
