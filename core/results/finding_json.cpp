#include "core/results/finding_json.hpp"

#include "core/base/json_put.hpp"

namespace driftscope {
namespace {

using Json = nlohmann::ordered_json;

/// {"name": value, …}
template <class T>
Status read_named(JsonFields& fields, std::string_view key, std::vector<std::pair<std::string, T>>& named) {
  const Json* const object = fields.given(key);
  if (object == nullptr) return {};
  const JsonPath path(fields.path(), key);
  if (!object->is_object()) return path.expected("an object", *object);
  for (const auto& [name, value] : object->items()) {
    auto& [kept, target] = named.emplace_back();
    kept = name;
    DRIFTSCOPE_CHECK(read_json(value, JsonPath(path, kept), target));
  }
  return {};
}

}  // namespace

Json encode(const Finding& finding) {
  Json object = {{"id", finding.id}};
  for (const auto& [name, value] : finding.numbers) object["numbers"][name] = encode(value);
  for (const auto& [name, value] : finding.words)
    if (name != "text") object["words"][name] = value;
  if (!finding.elements.empty()) object["elements"] = finding.elements;
  object["text"] = finding_text(finding);
  return object;
}

Status read_json(const Json& value, const JsonPath& path, Finding& finding) {
  JsonFields fields(value, path);
  fields.required("id", finding.id);
  if (!fields.ok()) return std::move(fields).status();
  DRIFTSCOPE_CHECK(read_named(fields, "numbers", finding.numbers));
  DRIFTSCOPE_CHECK(read_named(fields, "words", finding.words));
  fields.optional("elements", finding.elements);
  std::string text;
  fields.optional("text", text);
  if (!text.empty()) finding.words.emplace_back("text", std::move(text));
  return std::move(fields).status();
}

}  // namespace driftscope
