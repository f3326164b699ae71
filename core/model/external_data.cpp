// Compiled for size on the web (cmake/core.cmake).
#include "core/model/external_data.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "core/base/checked.hpp"
#include "core/base/text.hpp"

namespace driftscope {
namespace {

/// A non-negative decimal number; `absent` when the entry is not there.
Result<std::int64_t> number(const std::map<std::string, std::string>& entries, const std::string& key,
                            std::int64_t absent) {
  const auto entry = entries.find(key);
  if (entry == entries.end()) return absent;
  const std::string& text = entry->second;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return bad_input(
        fmt::format("external data: {} is {}, expected a number of bytes", key, in_quotes(text)));
  return value;
}

}  // namespace

Status check_external_location(const std::string& location) {
  const auto reject = [&](std::string_view why) {
    return bad_input(
        fmt::format("external data: location {} {}; it must be a relative path inside the model's folder",
                    in_quotes(location), why));
  };
  if (location.empty()) return reject("is empty");
  if (location.find('\0') != std::string::npos) return reject("holds a zero byte");
  if (location.find('\\') != std::string::npos) return reject("holds a backslash");
  if (location.front() == '/') return reject("is absolute");
  if (location.size() > 1 && location[1] == ':') return reject("names a drive");
  std::string_view rest = location;
  while (true) {
    const std::size_t slash = rest.find('/');
    if (rest.substr(0, slash) == "..") return reject("leaves the folder");
    if (slash == std::string_view::npos) return {};
    rest.remove_prefix(slash + 1);
  }
}

Result<ExternalPlace> external_place(const std::map<std::string, std::string>& entries, std::int64_t bytes) {
  const auto location = entries.find("location");
  if (location == entries.end()) return bad_input("external data: no location is given");
  DRIFTSCOPE_CHECK(check_external_location(location->second));
  DRIFTSCOPE_TRY(const std::int64_t offset, number(entries, "offset", 0));
  DRIFTSCOPE_TRY(const std::int64_t length, number(entries, "length", bytes));
  return ExternalPlace{location->second, offset, length};
}

Result<ByteSource> find_external(const ExternalPlace& place, std::int64_t bytes, const ExternalData& find) {
  if (place.length != bytes)
    return bad_input(fmt::format("external data {}: length is {} bytes, the shape needs {}",
                                 in_quotes(place.location), place.length, bytes));
  if (!checked_add(place.offset, bytes))
    return bad_input(fmt::format("external data {}: offset {} and length {} overflow",
                                 in_quotes(place.location), place.offset, place.length));
  auto data = find(place.location, place.offset, bytes);
  if (!data.ok()) return in_context(std::move(data).error(), "external data " + in_quotes(place.location));
  if (data->size != static_cast<std::uint64_t>(bytes))
    return bad_input(fmt::format("external data {}: expected {} bytes at offset {}, got {}",
                                 in_quotes(place.location), bytes, place.offset, data->size));
  return data;
}

ExternalData no_external_data() {
  return [](const std::string&, std::int64_t, std::int64_t) -> Result<ByteSource> {
    return bad_input("files beside the model cannot be read here; save the model in one file");
  };
}

}  // namespace driftscope
