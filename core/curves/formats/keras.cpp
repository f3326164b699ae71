// Keras's history as people store it: json.dump(history.history), lists of numbers by metric; or with the
// keys "history" and "epoch". Epochs are counted from 1, as Keras prints them.
#include <fmt/format.h>

#include <limits>

#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "core/base/text.hpp"
#include "core/curves/curve_format.hpp"

namespace driftscope::curve_formats::keras {
namespace {

std::string_view after_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

bool fits(const CurveSource& source) {
  return after_blanks(source.text()).starts_with('{') &&
         source.text().substr(0, 2000).find("\"driftscope-") == std::string_view::npos;
}

/// "null" stands for NaN where a program wrote strict JSON.
Result<double> history_value(const nlohmann::ordered_json& value, std::string_view metric,
                             std::size_t place) {
  if (value.is_number()) return value.get<double>();
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  double number = 0.0;
  if (value.is_string() && parse_curve_number(value.get_ref<const std::string&>(), number)) return number;
  return bad_input(fmt::format("{}[{}]: expected a number, found {}", in_quotes(metric), place,
                               in_quotes(json_text(value))));
}

/// Python's json.dump writes NaN and Infinity, which JSON does not have.
std::string strict_json(std::string_view text) {
  std::string strict;
  strict.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (c == '\\' && quoted && i + 1 < text.size()) {
      strict += c;
      strict += text[++i];
      continue;
    }
    bool replaced = false;
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN"})
      if (!quoted && text.substr(i).starts_with(word)) {
        strict += fmt::format("\"{}\"", word);
        i += word.size() - 1;
        replaced = true;
        break;
      }
    if (!replaced) strict += c;
  }
  return strict;
}

Result<CurveFile> read(const CurveSource& source) {
  DRIFTSCOPE_TRY(const nlohmann::ordered_json document, parse_document(strict_json(source.text())));
  const nlohmann::ordered_json* history = &document;
  std::vector<double> epochs;
  if (const auto inner = document.find("history"); inner != document.end() && inner->is_object()) {
    history = &*inner;
    if (const auto given = document.find("epoch"); given != document.end() && given->is_array())
      for (std::size_t i = 0; i < given->size(); ++i) {
        DRIFTSCOPE_TRY(const double epoch, history_value((*given)[i], "epoch", i));
        if (!(epoch >= -1e15 && epoch <= 1e15))
          return bad_input(fmt::format("epoch[{}]: expected a number of epochs, found {}", i, epoch));
        epochs.push_back(epoch + 1.0);
      }
  }
  CurveFile file;
  std::size_t points = 0;
  for (const auto& [metric, values] : history->items()) {
    if (!values.is_array()) {
      file.notes.push_back(fmt::format("{} is no list and was passed over", in_quotes(metric)));
      continue;
    }
    if (values.empty()) continue;
    Curve curve{source.run, metric, 0, {}, {}};
    if (!epochs.empty() && epochs.size() != values.size())
      return bad_input(
          fmt::format("{} has {} values, \"epoch\" has {}", in_quotes(metric), values.size(), epochs.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      DRIFTSCOPE_TRY(const double value, history_value(values[i], metric, i));
      curve.steps.push_back(epochs.empty() ? static_cast<double>(i + 1) : epochs[i]);
      curve.values.push_back(value);
    }
    points += values.size();
    if (file.curves.size() >= max_curves || points > max_curve_points)
      return limit_error(fmt::format("more than {} curves or {} points", max_curves, max_curve_points));
    file.curves.push_back(std::move(curve));
  }
  if (file.curves.empty())
    return bad_input(
        "no lists of numbers; expected the history of Keras, {\"loss\": [2.3, 1.9], \"accuracy\": [0.1, "
        "0.4]}");
  return file;
}

}  // namespace

void add_to(CurveFormatTable& table) {
  table.add({.order = 30, .name = "keras", .what = "Keras's history as JSON", .fits = fits, .read = read});
}

}  // namespace driftscope::curve_formats::keras
