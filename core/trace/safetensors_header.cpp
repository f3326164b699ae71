#include "core/trace/safetensors_header.hpp"

#include <fmt/format.h>

#include <array>

#include "core/base/json.hpp"
#include "core/base/json_walk.hpp"
#include "core/base/text.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

constexpr std::string_view metadata_key = "__metadata__";
constexpr int deepest_header = 8;  // the format needs 3

struct DTypeRow {
  std::string_view name;
  DType dtype;
};
constexpr std::array<DTypeRow, 16> dtype_rows = {{
    {"F64", DType::float64},
    {"F32", DType::float32},
    {"F16", DType::float16},
    {"BF16", DType::bfloat16},
    {"I64", DType::int64},
    {"I32", DType::int32},
    {"I16", DType::int16},
    {"I8", DType::int8},
    {"U64", DType::uint64},
    {"U32", DType::uint32},
    {"U16", DType::uint16},
    {"U8", DType::uint8},
    {"BOOL", DType::boolean},
    {"F8_E4M3", DType::float8e4m3fn},
    {"F8_E5M2", DType::float8e5m2},
    {"F8_E8M0", DType::float8e8m0},
}};

Result<std::int64_t> size_of(const json& number, std::string_view what) {
  if (!number.is_number_unsigned() || number.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
    return bad_input(fmt::format("{} contains something other than a size", what));
  return number.get<std::int64_t>();
}

Result<SafetensorsEntry> entry_of(const std::string& name, const json& value) {
  SafetensorsEntry entry{.name = name, .shape = {}};
  if (!value.is_object()) return bad_input("its description is not a JSON object");
  const auto dtype = value.find("dtype");
  const auto shape = value.find("shape");
  const auto offsets = value.find("data_offsets");
  if (dtype == value.end() || !dtype->is_string()) return bad_input("it has no dtype");
  if (shape == value.end() || !shape->is_array()) return bad_input("it has no shape");
  if (offsets == value.end() || !offsets->is_array() || offsets->size() != 2)
    return bad_input("it has no data_offsets [begin, end]");
  for (const DTypeRow& row : dtype_rows)
    if (row.name == dtype->get_ref<const std::string&>()) entry.dtype = row.dtype;
  if (entry.dtype == DType::undefined)
    return unsupported(fmt::format("dtype {} is not supported; convert it to F32",
                                   in_quotes(dtype->get_ref<const std::string&>())));
  if (shape->size() > max_rank)
    return limit_error(fmt::format("{} dimensions, the limit is {}", shape->size(), max_rank));
  for (const json& size : *shape) {
    DRIFTSCOPE_TRY(const std::int64_t dimension, size_of(size, "shape"));
    entry.shape.push_back(dimension);
  }
  DRIFTSCOPE_TRY(entry.begin, size_of((*offsets)[0], "data_offsets"));
  DRIFTSCOPE_TRY(entry.end, size_of((*offsets)[1], "data_offsets"));
  return entry;
}

Status read_metadata(const json& value, std::map<std::string, std::string>& metadata) {
  if (!value.is_object()) return bad_input("__metadata__ is not a JSON object");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) return bad_input(fmt::format("__metadata__: {} is not a string", in_quotes(key)));
    metadata[key] = text.get<std::string>();
  }
  return {};
}

}  // namespace

std::string_view safetensors_dtype(DType dtype) {
  for (const DTypeRow& row : dtype_rows)
    if (row.dtype == dtype) return row.name;
  return "";
}

Result<SafetensorsHeader> parse_safetensors_header(std::string_view text) {
  // What the JSON library alone would accept or lose: duplicate keys, their order, deep nesting.
  const JsonWalk walk = walk_json(text, deepest_header);
  if (walk.too_deep) return bad_input("the header is nested too deeply");
  const auto root = walk.valid ? parse_json(text) : json(json::value_t::discarded);
  if (root.is_discarded()) return bad_input("the header is not valid JSON");
  if (!root.is_object()) return bad_input("the header is not a JSON object");
  if (!walk.duplicate.empty())
    return bad_input(fmt::format("the header has the key {} twice", in_quotes(walk.duplicate)));
  SafetensorsHeader header;
  for (const std::string& name : walk.order) {
    const json& value = root[name];
    if (name == metadata_key) {
      DRIFTSCOPE_CHECK(read_metadata(value, header.metadata));
      continue;
    }
    auto entry = entry_of(name, value);
    if (!entry.ok()) return in_context(std::move(entry).error(), "tensor " + in_quotes(name));
    entry->position = header.entries.size();
    header.entries.push_back(*std::move(entry));
  }
  return header;
}

std::string safetensors_header_text(const SafetensorsHeader& header) {
  std::string text = "{";
  const auto add = [&](std::string_view key, const json& value) {
    if (text.size() > 1) text += ',';
    text += json_text(json(key)) + ":" + json_text(value);
  };
  if (!header.metadata.empty()) add(metadata_key, header.metadata);
  for (const SafetensorsEntry& entry : header.entries)
    add(entry.name, {{"dtype", safetensors_dtype(entry.dtype)},
                     {"shape", entry.shape},
                     {"data_offsets", {entry.begin, entry.end}}});
  return text + "}";
}

}  // namespace driftscope
