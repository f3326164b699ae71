// A model on the strict engine of this process, sample by sample: the same bits on every machine. Clients:
// calibrate, study. Each sample is a run of its own, so that a dynamic range is that of one sample.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/inputs/input_source.hpp"
#include "core/model/model.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope::quantize {

/// The values of one run, by name; the first output of the model under its own.
using Values = std::map<std::string, Tensor, std::less<>>;

class ModelRun {
 public:
  /// `wanted`: values to keep beside the outputs; those that do not exist are left out.
  [[nodiscard]] static Result<ModelRun> prepare(const Model& model, std::set<std::string> wanted = {});

  /// Errors name inputs whose shapes or types do not fit.
  [[nodiscard]] Result<Values> run(const NamedInputs& inputs);
  [[nodiscard]] const std::string& output() const { return output_; }

 private:
  std::shared_ptr<const Graph> graph_;
  std::set<std::string> wanted_;
  std::string output_;
  std::vector<Shape> shapes_;  // that the session was prepared for
  std::shared_ptr<const Graph> bound_;
  std::shared_ptr<Session> session_;
};

}  // namespace driftscope::quantize
