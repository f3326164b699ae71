// A model in another runtime's format, written from our graph, and where each of our values is in it.
// Clients: core/engines/peer (gives it to the runtime, restores ONNX's order), driftscope export,
// convert-check.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope::convert {

struct File {
  std::string name;  ///< "model.json"
  std::vector<std::byte> bytes;
};

/// One of our values in the other model.
struct PlacedValue {
  std::string name;                ///< of its tensor there
  std::vector<std::size_t> order;  ///< its axis i is our axis order[i]: {0, 2, 3, 1} for NHWC; empty: as ours
  DType dtype = DType::undefined;  ///< there: int32 where the format has no int64
  std::int64_t offset = 0;         ///< there: our integers plus this
  bool operator==(const PlacedValue&) const = default;
};

struct ConvertedModel {
  std::vector<File> files;  ///< the model itself first
  std::map<std::string, PlacedValue, std::less<>>
      values;  ///< by our name; inputs and outputs are always here
  std::map<std::string, std::string, std::less<>> without;  ///< values that it does not have, and why
  std::map<std::string, std::string> facts;                 ///< for the trace: what had to be changed
};

struct ConvertOptions {
  /// Values that must be readable in addition to the graph's outputs, by our names.
  std::vector<std::string> captured;
  std::map<std::string, std::string> options;  ///< of the target
  /// Other contents have another name, so that new files can lie beside old ones until the model, the first
  /// file, which names the others, is replaced. Costs a hash of all weights.
  bool names_by_contents = false;
  bool says_origin = true;  ///< false: nothing in the files says what wrote them
};

/// Writes `graph`, whose shapes are bound. The error names the node that cannot be expressed, and why.
using Converter = Result<ConvertedModel> (*)(const Graph& graph, const ConvertOptions& options);

}  // namespace driftscope::convert
