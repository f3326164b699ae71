// A report's model in the format of a runtime that does not read ONNX: written, read back, checked, and how
// a page passes tensors to it. Clients: report_files, runtimes/.
#pragma once

#include <string>

#include "core/repro/runtime.hpp"

namespace driftscope::repro {

/// Nothing in it says what wrote it. The check: read back and computed from the recorded inputs in double, it
/// gives what is expected. Errors: of the converter; the converted model computes something else, so that the
/// fault is not the runtime's.
[[nodiscard]] Result<convert::ConvertedModel> checked_conversion(const Excerpt& one, const Facts& facts,
                                                                 convert::Converter converter,
                                                                 ThreadPool& threads);

/// JavaScript for an input as the model takes it: an expression of a typed array, and the sizes there.
struct PlacedInput {
  std::string name;  ///< of its tensor in the model
  std::string dtype;
  std::string values;  ///< "reordered((await load("x0.npy")).data, [1, 3, 8, 8], [0, 2, 3, 1])"
  std::string shape;   ///< "[1, 8, 8, 3]"
};
[[nodiscard]] std::vector<PlacedInput> placed_inputs(const Report& report);

/// The name of the output's tensor in the model.
[[nodiscard]] std::string placed_output(const Report& report);

/// JavaScript that brings `values`, what the runtime gave, into ONNX's order.
[[nodiscard]] std::string restored_output(const Report& report, const std::string& values);

/// Function declarations that those need; may be empty.
[[nodiscard]] std::string placing_functions(const Report& report);

/// How the model was made, and that this was checked: sentences for an issue.
[[nodiscard]] std::string conversion_text(const Report& report, const std::string& format);

}  // namespace driftscope::repro
