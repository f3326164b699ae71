// A conversion check with what is known of both models, as text and as JSON ("driftscope-convert-check-1",
// see docs/convert.md). Client: the command line.
#pragma once

#include <string>

#include "core/convert_check/check.hpp"
#include "core/report/tables.hpp"

namespace driftscope::convert {

struct CheckedModel {
  std::string path;
  std::string kind;                     ///< "ONNX", "trace", "TensorFlow Lite", "TensorFlow.js"
  std::int64_t bytes = 0;               ///< with the files that belong to it
  double load_ms = 0.0;                 ///< reading it and building the graph; 0 for a trace
  std::int64_t nodes = 0;               ///< 0 for a trace
  std::int64_t weights = 0;             ///< elements of its constants
  std::vector<std::string> notes = {};  ///< what the reader had to change
};

/// Both over a data set.
struct DatasetCheck {
  std::string text;
  std::int64_t samples = 0;
  std::int64_t agree = 0;  ///< samples with the same top-1 class
  DatasetResult a;
  DatasetResult b;
  Metrics drift;  ///< of the first output over all samples
};

struct CheckView {
  CheckedModel a;
  CheckedModel b;
  std::string target;  ///< on which both ran
  std::string input_text;
  /// Inputs with another order of axes than their shapes suggest first: with it, both agree.
  std::vector<ValuePair> reordered;
  Check check;
  std::optional<DatasetCheck> dataset;
};

/// Constants of a graph: how many elements.
[[nodiscard]] std::int64_t weight_count(const Graph& graph);

[[nodiscard]] std::string check_text(const CheckView& view, const LayerChoice& choice);
[[nodiscard]] std::string check_json(const CheckView& view);

/// One sentence: "B computes what A does, up to rounding", "they diverge at conv1: …".
[[nodiscard]] std::string check_headline(const Check& check);

}  // namespace driftscope::convert
