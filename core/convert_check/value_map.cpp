// The map as JSON, for people to read and edit.
#include <fmt/format.h>

#include "core/base/json.hpp"
#include "core/base/json_walk.hpp"
#include "core/base/json_writer.hpp"
#include "core/base/text.hpp"
#include "core/convert_check/alignment.hpp"

namespace driftscope::convert {
namespace {

constexpr std::string_view map_format = "driftscope-map-1";
constexpr int deepest = 8;

Result<std::string> name_in(const nlohmann::json& entry, const char* key, std::size_t index) {
  const auto found = entry.find(key);
  if (found == entry.end() || found->is_null()) return std::string();
  if (!found->is_string())
    return bad_input(fmt::format("values[{}].{}: expected the name of a value or null", index, key));
  return found->get<std::string>();
}

Result<Order> order_in(const nlohmann::json& entry, std::size_t index) {
  Order order;
  const auto found = entry.find("order");
  if (found == entry.end() || found->is_null()) return order;
  const auto wrong = [&] {
    return bad_input(
        fmt::format("values[{}].order: expected the axes of a in the order of b, as [0, 2, 3, 1]", index));
  };
  if (!found->is_array() || found->size() > max_rank) return wrong();
  std::vector<bool> seen(found->size());
  for (const auto& axis : *found) {
    if (!axis.is_number_unsigned() || axis.get<std::uint64_t>() >= found->size() ||
        seen[axis.get<std::size_t>()])
      return wrong();
    seen[axis.get<std::size_t>()] = true;
    order.push_back(axis.get<std::size_t>());
  }
  return order;
}

}  // namespace

Result<ValueMap> read_value_map(std::string_view text) {
  if (!walk_json(text, deepest).valid) return bad_input("the map is not JSON");
  const auto json = parse_json(text);
  const auto format = json.is_object() ? json.find("format") : json.end();
  if (format == json.end() || *format != map_format)
    return bad_input(fmt::format(
        "this is not a map: expected an object with \"format\": \"{}\"; --write-map writes one", map_format));
  const auto values = json.find("values");
  if (values == json.end() || !values->is_array()) return bad_input("the map has no list \"values\"");
  ValueMap map;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const auto& entry = (*values)[i];
    if (!entry.is_object())
      return bad_input(fmt::format("values[{}]: expected an object with \"a\" and \"b\"", i));
    ValuePair pair;
    DRIFTSCOPE_TRY(pair.a, name_in(entry, "a", i));
    DRIFTSCOPE_TRY(pair.b, name_in(entry, "b", i));
    DRIFTSCOPE_TRY(pair.order, order_in(entry, i));
    pair.by = FoundBy::given;
    if (pair.a.empty() && pair.b.empty())
      return bad_input(fmt::format("values[{}]: neither \"a\" nor \"b\" names a value", i));
    map.pairs.push_back(std::move(pair));
  }
  return map;
}

std::string value_map_json(const Alignment& alignment) {
  JsonWriter writer;
  writer.begin_object();
  writer.member("format", map_format);
  writer.key("values");
  writer.begin_array();
  for (const ValuePair& pair : alignment.pairs) {
    nlohmann::ordered_json entry = {{"a", pair.a}, {"b", pair.b}};
    if (!pair.order.empty()) entry["order"] = pair.order;
    entry["by"] = found_by_name(pair.by);
    writer.value(entry);
  }
  for (const std::string& name : alignment.only_a) writer.value({{"a", name}, {"b", nullptr}});
  for (const std::string& name : alignment.only_b) writer.value({{"a", nullptr}, {"b", name}});
  writer.end();
  writer.end();
  return writer.take() + "\n";
}

}  // namespace driftscope::convert
