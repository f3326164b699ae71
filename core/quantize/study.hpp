// What quantization does to a model: accuracy and size before and after, each layer's part in the drift, and
// the layers that have to stay in float. Client: the command `quantize`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/quantize/calibrate.hpp"
#include "core/quantize/quantize.hpp"

namespace driftscope::quantize {

struct StudyRequest {
  std::vector<std::string> keep;
  /// What accuracy and drift are measured on; null: nothing is measured.
  const InputSource* data = nullptr;
  std::int64_t samples = 0;        ///< of it, for the accuracy
  std::int64_t layer_samples = 0;  ///< of it, for what each layer does alone
  const InputSource* calibration = nullptr;
  std::int64_t calibration_samples = 0;
  const Method* method = nullptr;
  MethodOptions method_options;
  /// Accuracy to restore, from 0 to 1: layers are kept in float until it is reached.
  std::optional<double> restore;
  bool restore_is_loss = false;  ///< `restore` is what may be lost instead
};

/// How many of how many are right.
struct Accuracy {
  std::int64_t correct = 0;
  std::int64_t samples = 0;
  [[nodiscard]] double share() const { return static_cast<double>(correct) / static_cast<double>(samples); }
};

struct LayerStudy {
  std::string node;
  std::string op;
  /// Power of the layer's result in float ÷ power of what changes when it alone is quantized, in dB. Nothing:
  /// not measured. Infinite: nothing changes.
  std::optional<double> sqnr_db = {};
  /// Mean squared difference of the model's first output when this layer alone is quantized.
  double drift = 0.0;
  /// Its share in the sum of those of all layers; nothing when none is measured or all are 0.
  std::optional<double> drift_share = {};
};

struct RestoreStep {
  std::string node;  ///< that is kept in float from here on
  Accuracy accuracy;
};

struct Study {
  Model model;
  std::vector<std::string> notes;
  std::optional<Accuracy> before, after;
  /// On how many of the samples both give the same class; nothing without data or where there are no classes.
  std::optional<std::int64_t> agree;
  std::int64_t measured_samples = 0;  ///< for the drift
  std::optional<double> drift;        ///< of the quantized model as a whole, as LayerStudy::drift
  std::vector<LayerStudy> layers;
  std::vector<RestoreStep> steps;  ///< of --restore, in their order
  std::vector<std::string>
      restored_by;               ///< the layers kept in the end; a step that was not needed is left out
  std::optional<double> wanted;  ///< the accuracy to restore
  bool restored = false;         ///< whether the accuracy was reached
};

/// Errors: a calibrated mode without data, an unknown layer, --restore without labels, all of make() and
/// calibrate().
[[nodiscard]] Result<Study> study(const Model& model, const Quantizer& quantizer, const StudyRequest& request,
                                  const Watch& watch);

}  // namespace driftscope::quantize
