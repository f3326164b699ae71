// Compiled for size on the web (cmake/core.cmake).
#include "core/trace/run_fact.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "core/base/text.hpp"

namespace driftscope {
namespace {

std::vector<std::string> sentences(const Trace& trace, std::string_view key) {
  std::vector<std::string> list;
  const auto given = run_fact_json(trace, key);
  if (given && given->is_array())
    for (const auto& one : *given)
      if (one.is_string() && printable(one.get_ref<const std::string&>()))
        list.push_back(one.get<std::string>());
  return list;
}

}  // namespace

std::optional<nlohmann::ordered_json> run_fact_json(const Trace& trace, std::string_view key) {
  // Most traces lack most facts: a search is faster than a parser.
  if (trace.run.find("\"" + std::string(key) + "\"") == std::string::npos) return std::nullopt;
  const auto run = parse_document(trace.run);
  if (!run.ok() || !run->is_object()) return std::nullopt;
  const auto found = run->find(std::string(key));
  return found == run->end() ? std::nullopt : std::optional(*found);
}

void set_run_fact(Trace& trace, std::string_view key, const nlohmann::ordered_json& value) {
  auto read = parse_document(trace.run);
  nlohmann::ordered_json run =
      read.ok() && read->is_object() ? *std::move(read) : nlohmann::ordered_json::object();
  run[std::string(key)] = value;
  trace.run = json_text(run);
}

std::vector<std::string> device_errors_of_run(const Trace& trace) {
  return sentences(trace, "device_errors");
}

std::vector<std::string> notes_of_run(const Trace& trace) {
  std::vector<std::string> notes = sentences(trace, "notes");
  std::ranges::move(device_errors_of_run(trace), std::back_inserter(notes));
  return notes;
}

}  // namespace driftscope
