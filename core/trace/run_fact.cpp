// Compiled for size on the web (cmake/core.cmake).
#include "core/trace/run_fact.hpp"

#include <string>

#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "core/base/text.hpp"

namespace driftscope {

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

std::vector<std::string> notes_of_run(const Trace& trace) {
  std::vector<std::string> notes;
  const auto list = run_fact_json(trace, "notes");
  if (list && list->is_array())
    for (const auto& one : *list)
      if (one.is_string() && printable(one.get_ref<const std::string&>()))
        notes.push_back(one.get<std::string>());
  return notes;
}

}  // namespace driftscope
