// A small valid model that is drawn step by step: inputs with their values, weights, nodes. Clients: the
// operators of the hunt, which append nodes; probe, which takes the model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/rng.hpp"
#include "core/hunt/fill.hpp"
#include "core/model/model.hpp"

namespace driftscope::hunt {

struct DraftValue {
  std::string name;
  DType dtype = DType::undefined;
  Shape shape;
  [[nodiscard]] int rank() const { return static_cast<int>(shape.size()); }
  /// Of an axis that is not negative.
  [[nodiscard]] std::int64_t size(std::size_t axis) const { return shape[axis]; }
};

class Draft {
 public:
  /// `fill`: of the inputs; it outlives this.
  Draft(std::uint64_t seed, const Fill& fill);

  [[nodiscard]] Rng& rng() { return rng_; }

  /// A value of this type and rank that nodes have made, mostly, or else a new input of a drawn shape.
  [[nodiscard]] DraftValue operand(int rank, DType dtype = DType::float32);
  /// The same of any rank from `low` to `high`.
  [[nodiscard]] DraftValue operand(int low, int high, DType dtype = DType::float32);
  [[nodiscard]] DraftValue input(const Shape& shape, DType dtype = DType::float32);
  /// Standard normal × `scale` + `mean`, or whole numbers of an integer type.
  [[nodiscard]] DraftValue weight(const Shape& shape, double scale = 1.0, double mean = 0.0,
                                  DType dtype = DType::float32);
  /// In [low, high].
  [[nodiscard]] DraftValue whole_numbers(const Shape& shape, std::int64_t low, std::int64_t high,
                                         DType dtype = DType::int64);
  [[nodiscard]] DraftValue constant(const std::vector<std::int64_t>& values);
  [[nodiscard]] DraftValue constant(const std::vector<float>& values);
  /// Of rank 0.
  [[nodiscard]] DraftValue scalar(float value);
  [[nodiscard]] DraftValue scalar_of(DType dtype, double value);

  /// Appends a node. `inputs`: names, "" for one that is left out. False: shape inference refuses it, or its
  /// outputs are empty or too large.
  [[nodiscard]] bool node(const std::string& op, const std::vector<std::string>& inputs,
                          std::vector<Attribute> attributes = {}, int outputs = 1,
                          const std::string& domain = "");
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const std::vector<NamedTensor>& inputs() const { return inputs_; }

 private:
  DraftValue initializer(Tensor tensor);
  [[nodiscard]] std::string new_name(char kind);

  Rng rng_;
  const Fill* fill_;
  Model model_;
  std::vector<NamedTensor> inputs_;
  std::vector<DraftValue> made_;  ///< outputs of nodes
  int names_ = 0;
};

}  // namespace driftscope::hunt
