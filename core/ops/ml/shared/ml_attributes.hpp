// What operators of the domain ai.onnx.ml have in common: lists in attributes, read where they are (a tree
// ensemble has hundreds of megabytes of them); inputs of numbers of any type; labels of classes; transforms
// of scores. Clients: tree ensembles, linear models, support vector machines, preprocessing.
//
// Where ONNX's text leaves something open it is what ONNX Runtime's CPU kernels do (docs/operators.md).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"
#include "core/ops/shared/real_elements.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ml {

inline constexpr std::string_view domain = "ai.onnx.ml";

/// A list in an attribute, not copied: it lives as long as the node. Empty: the attribute is absent. T is
/// float, std::int64_t or std::string.
template <class T>
[[nodiscard]] Result<std::span<const T>> list_attribute(const Node& node, std::string_view name);

/// Real numbers in an attribute: floats, or a float32 or float64 tensor.
class Reals {
 public:
  Reals() = default;
  explicit Reals(std::span<const float> values) : floats_(values) {}
  explicit Reals(std::span<const double> values) : doubles_(values) {}
  [[nodiscard]] std::size_t size() const { return floats_.size() + doubles_.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] double operator[](std::size_t i) const {
    return doubles_.empty() ? static_cast<double>(floats_[i]) : doubles_[i];
  }

 private:
  std::span<const float> floats_;
  std::span<const double> doubles_;
};

/// The floats of `name`, or the tensor of `name` + "_as_tensor"; both is an error.
[[nodiscard]] Result<Reals> reals_attribute(const Node& node, std::string_view name);
/// A tensor of real numbers; `T` = std::uint8_t: of these.
[[nodiscard]] Result<Reals> real_tensor_attribute(const Node& node, std::string_view name);
[[nodiscard]] Result<std::span<const std::uint8_t>> byte_tensor_attribute(const Node& node,
                                                                          std::string_view name);

/// `attribute NAME: expected COUNT values (WHY), got GOT`, unless they are equal.
[[nodiscard]] Status expect_size(std::string_view name, std::size_t got, std::size_t expected,
                                 std::string_view why);

/// Input 0 is a vector of features or a matrix of rows of them, of real numbers or integers. Of a scalar or a
/// higher rank it is an error.
[[nodiscard]] Status expect_rows(const InferContext& context);
/// Its number of rows, as far as known: one for a vector.
[[nodiscard]] Dimension rows_of(const InferContext& context);
/// Its number of features; unknown where that is.
[[nodiscard]] Dimension features_of(const InferContext& context);
/// Features of rows of this shape; the same at run time.
struct Rows {
  std::int64_t count = 1;
  std::int64_t features = 0;
};
[[nodiscard]] Rows rows_of(const Shape& shape);
[[nodiscard]] Status expect_features(const Dimension& features, std::int64_t expected, std::string_view why);

/// The elements of an input of real numbers or integers; integers become float32 first, as in every runtime.
template <class S>
class Numbers {
 public:
  Numbers(const KernelContext<S>& context, std::size_t input) {
    const DType dtype = context.dtype(input);
    if (is_floating(dtype)) {
      reals_.emplace(context, input);
      return;
    }
    const Tensor& tensor = context.tensor(input);
    widened_.reserve(static_cast<std::size_t>(tensor.elements()));
    visit_plain_integer(dtype, [&]<class E>() {
      for (const auto x : tensor.values<typename E::Stored>()) widened_.push_back(static_cast<float>(x));
    });
  }
  /// Of float32, where no context is.
  explicit Numbers(std::span<const S> values) : reals_(std::in_place, values) {}
  [[nodiscard]] S operator[](std::size_t i) const {
    return reals_ ? (*reals_)[i] : math::exact<S>(static_cast<double>(widened_[i]));
  }
  [[nodiscard]] S operator[](std::int64_t i) const { return (*this)[static_cast<std::size_t>(i)]; }

 private:
  std::optional<RealElements<S>> reals_;
  std::vector<float> widened_;
};

/// The labels of a classifier, either numbers or strings; of strings only how many there are.
struct Labels {
  std::span<const std::int64_t> numbers;
  std::size_t count = 0;
  bool strings = false;
};
/// `integers` and `strings` are names of attributes. One of them has to be given.
[[nodiscard]] Result<Labels> read_labels(const Node& node, std::string_view integers,
                                         std::string_view strings);

/// Types of a classifier's outputs: the labels, [N], and scores, [N, width]. A label of strings is not
/// supported where it is wanted.
[[nodiscard]] Result<std::vector<TensorType>> classifier_types(const InferContext& context,
                                                               const Labels& labels, std::int64_t width);

/// How far the label may be from that of `best`, as ArgMax says it for indices.
[[nodiscard]] Bounded label_bound(const Labels& labels, std::size_t best,
                                  std::span<const std::size_t> rivals);

/// What a model writes: scores and, of a classifier, labels with their bounds. Empty: not wanted.
template <class S>
struct Outputs {
  std::span<std::int64_t> labels;
  std::span<Bounded> bounds;
  std::span<S> scores;

  void set_label(const Labels& of, std::int64_t row, std::size_t best,
                 std::span<const std::size_t> rivals) const {
    const auto at = static_cast<std::size_t>(row);
    if (labels.empty()) return;
    labels[at] = of.numbers[best];
    if (!bounds.empty()) bounds[at] = label_bound(of, best, rivals);
  }
};
/// `classes`: the labels are output 0 and the scores output 1, else the scores are output 0.
template <class S>
[[nodiscard]] Result<Outputs<S>> outputs_of(KernelContext<S>& context, bool classes) {
  Outputs<S> outputs;
  if (classes && context.wants_output(0)) {
    outputs.labels = context.tensor_output(0).template mutable_values<std::int64_t>();
    if constexpr (std::is_same_v<S, Bounded>) {
      DRIFTSCOPE_TRY(outputs.bounds, context.bounds_output(0));
    }
  }
  const std::size_t place = classes ? 1 : 0;
  if (context.wants_output(place)) outputs.scores = context.real_output(place);
  return outputs;
}

enum class Transform : std::uint8_t { none, logistic, softmax, softmax_zero, probit };
[[nodiscard]] Result<Transform> transform_attribute(const Node& node);
/// By its number in TreeEnsemble.
[[nodiscard]] Result<Transform> transform_of(std::int64_t number);

/// The scores of one row in place. SOFTMAX_ZERO leaves (almost) zeros out of the sum; PROBIT is an
/// approximation, √2·erf⁻¹(2x − 1), and has no result outside (0, 1).
template <class S>
void apply_transform(Transform transform, std::span<S> scores);

/// The index of the first largest score; in `rivals`, if not null, those that rounding may have made the
/// largest.
template <class S>
[[nodiscard]] std::size_t largest_score(std::span<const S> scores, std::vector<std::size_t>* rivals);

extern template Result<std::span<const float>> list_attribute<float>(const Node&, std::string_view);
extern template Result<std::span<const std::int64_t>> list_attribute<std::int64_t>(const Node&,
                                                                                   std::string_view);
extern template Result<std::span<const std::string>> list_attribute<std::string>(const Node&,
                                                                                 std::string_view);

}  // namespace driftscope::ml
