#include "native/jobs/job.hpp"

#include <fmt/format.h>

#include <string_view>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

constexpr std::size_t most_messages = 4000;
constexpr std::size_t most_lines = 5;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

Result<std::vector<std::string>> placed_arguments(const ProgramJob& job,
                                                  const std::map<std::string, std::string>& places) {
  std::vector<std::string> placed;
  for (const std::string& argument : job.arguments) {
    std::string& made = placed.emplace_back();
    for (std::size_t at = 0; at < argument.size();) {
      const std::size_t begin = std::min(argument.find("@{", at), argument.size());
      made += argument.substr(at, begin - at);
      if (begin == argument.size()) break;
      const std::size_t end = argument.find('}', begin);
      const std::string name = argument.substr(begin + 2, end == std::string::npos ? end : end - begin - 2);
      const auto place = places.find(name);
      if (end == std::string::npos || place == places.end())
        return internal_error(fmt::format("a job's argument {} names no file of it", in_quotes(argument)));
      made += place->second;
      at = end + 1;
    }
  }
  return placed;
}

std::string messages_in(const std::string& printed) {
  constexpr std::string_view ours = "driftscope: ";
  const std::vector<std::string_view> lines = lines_of(printed);
  std::string messages;
  for (const std::string_view line : lines)
    if (line.starts_with(ours))
      messages += fmt::format("{}{}", messages.empty() ? "" : "; ", line.substr(ours.size()));
  if (messages.empty())
    for (std::size_t i = lines.size() - std::min(lines.size(), most_lines); i < lines.size(); ++i)
      messages += fmt::format("{}{}", messages.empty() ? "" : " | ", lines[i]);
  if (messages.size() > most_messages) messages.resize(most_messages);
  return messages;
}

}  // namespace driftscope
