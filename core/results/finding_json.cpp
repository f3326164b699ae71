#include "core/results/finding_json.hpp"

#include "core/base/json_number.hpp"

namespace driftscope {
namespace {

using Json = nlohmann::ordered_json;

Json finding_json(const Finding& finding) {
  Json object = {{"id", finding.id}};
  for (const auto& [name, value] : finding.numbers) object["numbers"][name] = json_number(value);
  for (const auto& [name, value] : finding.words)
    if (name != "text") object["words"][name] = value;
  if (!finding.elements.empty()) object["elements"] = finding.elements;
  object["text"] = finding_text(finding);
  return object;
}

std::optional<Finding> finding_of(const nlohmann::json& object) {
  const auto has = [&](const char* key, auto is) {
    const auto found = object.find(key);
    return found != object.end() && is(*found);
  };
  if (!object.is_object() || !has("id", [](const auto& id) { return id.is_string(); })) return std::nullopt;
  Finding finding{.id = object["id"].get<std::string>()};
  const auto is_object = [](const auto& value) { return value.is_object(); };
  if (has("numbers", is_object))
    for (const auto& [name, value] : object["numbers"].items())
      if (value.is_number()) finding.numbers.emplace_back(name, value.template get<double>());
  if (has("words", is_object))
    for (const auto& [name, value] : object["words"].items())
      if (value.is_string()) finding.words.emplace_back(name, value.template get<std::string>());
  if (has("elements", [](const auto& value) { return value.is_array(); }))
    for (const auto& index : object["elements"]) {
      if (!index.is_array()) return std::nullopt;
      auto& element = finding.elements.emplace_back();
      for (const auto& one : index) {
        if (!one.is_number_integer()) return std::nullopt;
        element.push_back(one.template get<std::int64_t>());
      }
    }
  if (has("text", [](const auto& text) { return text.is_string(); }))
    finding.words.emplace_back("text", object["text"].get<std::string>());
  return finding;
}

}  // namespace

Json findings_json(std::span<const Finding> findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) list.push_back(finding_json(finding));
  return list;
}

std::optional<std::vector<Finding>> findings_of(const nlohmann::json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<Finding> findings;
  for (const auto& one : list) {
    auto finding = finding_of(one);
    if (!finding) return std::nullopt;
    findings.push_back(*std::move(finding));
  }
  return findings;
}

}  // namespace driftscope
