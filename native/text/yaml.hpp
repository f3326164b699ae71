// YAML as people write it, read into JSON by libyaml. Clients: files that may be written as YAML (matrix). It
// opens no file.
//
// Scalars without quotes are null, booleans and numbers as in YAML 1.2's core schema, else texts. Anchors and
// aliases are read; tags, merge keys and several documents are refused. JSON is YAML too.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

struct YamlDocument {
  nlohmann::ordered_json value;
  /// The line of each value, from 1, by its path as JsonPath writes it: "models[0].path"; "" is the document.
  std::map<std::string, int> lines;

  /// Of the innermost value on a path that is there.
  [[nodiscard]] int line_of(std::string_view path) const;
};

/// Errors, with the line: no YAML, what is refused, keys that occur twice, more than 4 MiB, 100,000 values or
/// 64 levels, aliases included.
[[nodiscard]] Result<YamlDocument> read_yaml(std::string_view text);

}  // namespace driftscope
