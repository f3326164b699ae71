// One fact of a trace's `run`, by its key and as the struct that its schema says: the text is parsed here.
// Clients: whoever knows such a fact (run_times, repeat_check, perturbation, …), with the code that is
// generated for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_fields.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

/// Nothing where it is absent; a file that others made may say anything.
[[nodiscard]] std::optional<nlohmann::ordered_json> run_fact_json(const Trace& trace, std::string_view key);

/// Nothing where it is absent or malformed.
template <class Fact>
[[nodiscard]] std::optional<Fact> run_fact(const Trace& trace, std::string_view key) {
  const auto value = run_fact_json(trace, key);
  if (!value) return std::nullopt;
  Fact fact;
  return read_json(*value, JsonPath(key), fact).ok() ? std::optional(std::move(fact)) : std::nullopt;
}

/// What the API of its device reported while the runtime went on; results after that may be anything.
[[nodiscard]] std::vector<std::string> device_errors_of_run(const Trace& trace);

/// What the run noted of the model and these inputs (bind_inputs), and the errors of its device.
[[nodiscard]] std::vector<std::string> notes_of_run(const Trace& trace);

/// In place of one that is there, else behind the others.
void set_run_fact(Trace& trace, std::string_view key, const nlohmann::ordered_json& value);

}  // namespace driftscope
