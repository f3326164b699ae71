// The metrics of a layer as keys of its JSON, both ways. Clients: the writers and readers of results.
#pragma once

#include <string>
#include <type_traits>

#include "core/base/json_fields.hpp"
#include "core/base/json_number.hpp"
#include "core/results/metrics_table.hpp"

namespace driftscope {

/// Adds the keys that `source` has, in the table's order.
template <class Layer>
void add_metrics(nlohmann::ordered_json& json, MetricSource source, const Layer& layer) {
  for (const MetricRow& row : metrics_table) {
    if (!appearance(row, source).json) continue;
    with_field(row, layer, [&](auto value) {
      if constexpr (std::is_same_v<decltype(value), double>) {
        if (!row.optional || value == value) json[std::string(row.key)] = json_number(value);
      } else
        json[std::string(row.key)] = value;
    });
  }
}

/// Reads them again. An absent one, as in documents of earlier versions, is not measured, or 0 if it counts.
template <class Layer>
void read_metrics(JsonFields& fields, MetricSource source, Layer& layer) {
  for (const MetricRow& row : metrics_table) {
    if (!appearance(row, source).json) continue;
    with_field(row, layer, [&](auto& value) {
      if constexpr (std::is_same_v<std::remove_reference_t<decltype(value)>, double>) value = not_measured;
      fields.optional(row.key, value);
    });
  }
}

}  // namespace driftscope
