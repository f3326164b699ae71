// A model → a quantized one, by the name of a mode. Clients: the study of its layers, the command.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/quantize/mode.hpp"

namespace driftscope::quantize {

/// A float model that can be quantized in one mode again and again, with other layers kept.
class Quantizer {
 public:
  /// Errors: a model that is quantized already, has no float32 weights, or an opset that cannot be raised to
  /// what the mode needs. The mode must outlive it.
  [[nodiscard]] static Result<Quantizer> open(Model model, const Mode& mode, bool per_channel);

  /// Nodes that the mode quantizes, in the model's order; never empty.
  [[nodiscard]] const std::vector<std::string>& layers() const { return layers_; }
  [[nodiscard]] const Mode& mode() const { return *mode_; }
  /// The value that the layer makes: of the node, or of the normalization that was folded into it.
  [[nodiscard]] const std::string& output_of(const std::string& layer) const { return outputs_.at(layer); }
  /// Values whose ranges a calibrated mode needs.
  [[nodiscard]] const std::vector<std::string>& values() const { return values_; }
  /// Names of all nodes, for --keep.
  [[nodiscard]] const std::vector<std::string>& nodes() const { return nodes_; }

  struct Made {
    Model model;
    std::vector<std::string> notes;
  };
  /// `ranges`: of values(), for a calibrated mode. Errors: weights that are not finite; nothing left to
  /// quantize.
  [[nodiscard]] Result<Made> make(const std::set<std::string>& keep,
                                  const std::map<std::string, ValueRange>& ranges) const;

 private:
  [[nodiscard]] Result<ModelEdit> begin() const;

  Model model_;
  const Mode* mode_ = nullptr;
  bool per_channel_ = false;
  std::map<std::string, DType> types_;
  std::vector<std::string> layers_, values_, nodes_;
  std::map<std::string, std::string> outputs_;
};

/// The names, each of which must be of `nodes`. Errors list the nearest names.
[[nodiscard]] Status check_kept(const std::vector<std::string>& keep, const Quantizer& quantizer);

}  // namespace driftscope::quantize
