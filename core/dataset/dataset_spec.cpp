#include <fmt/format.h>

#include <charconv>

#include "core/base/text.hpp"
#include "core/dataset/dataset.hpp"

namespace driftscope {
namespace {

constexpr std::string_view idx_prefix = "idx:";
constexpr std::string_view cifar10_prefix = "cifar10:";

Error spec_error(std::string_view text, std::string_view why) {
  return bad_input(fmt::format("{}: {}; expected idx:IMAGES,LABELS or cifar10:FILE, and #17 after it "
                               "for one sample",
                               in_quotes(text, 200), why));
}

/// The number after the last '#', when there is nothing but digits after it.
std::optional<std::int64_t> take_sample(std::string_view& rest) {
  const std::size_t hash = rest.rfind('#');
  if (hash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = rest.substr(hash + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 0)
    return std::nullopt;
  rest = rest.substr(0, hash);
  return number;
}

}  // namespace

bool is_dataset_spec(std::string_view text) {
  return text.starts_with(idx_prefix) || text.starts_with(cifar10_prefix);
}

Result<DatasetSpec> parse_dataset_spec(std::string_view text) {
  DatasetSpec spec;
  if (!is_dataset_spec(text)) return spec_error(text, "unknown kind of data set");
  std::string_view rest = text;
  if (text.starts_with(cifar10_prefix)) spec.format = DatasetSpec::Format::cifar10;
  rest.remove_prefix(spec.format == DatasetSpec::Format::idx ? idx_prefix.size()
                                                             : cifar10_prefix.size());
  spec.sample = take_sample(rest);
  const std::size_t comma = rest.rfind(',');
  if (spec.format == DatasetSpec::Format::idx && comma != std::string_view::npos) {
    spec.labels = rest.substr(comma + 1);
    rest = rest.substr(0, comma);
    if (spec.labels.empty()) return spec_error(text, "the file of labels is missing");
  }
  spec.images = rest;
  if (spec.images.empty()) return spec_error(text, "the file is missing");
  if (spec.format == DatasetSpec::Format::idx && !spec.sample && spec.labels.empty())
    return spec_error(text, "a whole data set needs labels, one sample of it a #number");
  return spec;
}

}  // namespace driftscope
