// ai.onnx.ml LinearRegressor and LinearClassifier, opset 1 to 5: X·coefficientsᵀ + intercepts, then a
// transform of each row. The label is that of the largest score, the first of equal ones, before the
// transform.
//
// Strict definition (float): each score is one accumulator that starts at the intercept.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/ops/ml/shared/ml_attributes.hpp"

namespace driftscope::ops::linear_models {

struct Model {
  ml::Labels labels;  // of a classifier
  ml::Transform transform = ml::Transform::none;
  std::span<const float> coefficients;  // [targets, features]
  std::span<const float> intercepts;    // [targets], or none
  std::int64_t targets = 1;
  std::int64_t features = 0;
};

Result<Model> read(const Node& node) {
  const bool classes = node.op_type == "LinearClassifier";
  Model model;
  DRIFTSCOPE_TRY(model.transform, ml::transform_attribute(node));
  DRIFTSCOPE_TRY(model.coefficients, ml::list_attribute<float>(node, "coefficients"));
  DRIFTSCOPE_TRY(model.intercepts, ml::list_attribute<float>(node, "intercepts"));
  if (model.coefficients.empty())
    return bad_input("attribute coefficients: it is required, and missing or empty");
  if (classes) {
    DRIFTSCOPE_TRY(model.labels, ml::read_labels(node, "classlabels_ints", "classlabels_strings"));
    model.targets =
        static_cast<std::int64_t>(model.intercepts.empty() ? model.labels.count : model.intercepts.size());
    if (model.targets == 1)  // ONNX's evaluator has [−s, s], ONNX Runtime [1 − s, s]
      return unsupported("one row of coefficients for a classifier: its scores are defined nowhere");
    DRIFTSCOPE_CHECK(ml::expect_size("intercepts", static_cast<std::size_t>(model.targets),
                                     model.labels.count, "as there are labels"));
  } else {
    DRIFTSCOPE_TRY(model.targets, int_attribute(node, "targets", 1));
    if (model.targets < 1)
      return bad_input(fmt::format("attribute targets: expected at least 1, got {}", model.targets));
    if (!model.intercepts.empty())
      DRIFTSCOPE_CHECK(ml::expect_size("intercepts", model.intercepts.size(),
                                       static_cast<std::size_t>(model.targets), "targets"));
  }
  const auto count = static_cast<std::int64_t>(model.coefficients.size());
  if (count % model.targets != 0)
    return bad_input(fmt::format("attribute coefficients: expected a multiple of {} values (rows), got {}",
                                 model.targets, count));
  model.features = count / model.targets;
  return model;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(ml::expect_rows(context));
  DRIFTSCOPE_TRY(const Model model, read(context.node()));
  DRIFTSCOPE_CHECK(ml::expect_features(ml::features_of(context), model.features, "columns of coefficients"));
  if (model.labels.count > 0) return ml::classifier_types(context, model.labels, model.targets);
  return std::vector{
      TensorType{DType::float32, SymbolicShape{ml::rows_of(context), known_dimension(model.targets)}}};
}

struct Kernel {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Model model, read(context.node()));
    const ml::Rows rows = ml::rows_of(context.shape(0));
    const bool classes = model.labels.count > 0;
    DRIFTSCOPE_TRY(const ml::Outputs<S> outputs, ml::outputs_of(context, classes));
    const std::span<S> y = outputs.scores;
    const ml::Numbers<S> x(context, 0);
    const std::int64_t grain =
        std::max<std::int64_t>(1, 16384 / static_cast<std::int64_t>(model.coefficients.size()));
    context.parallel_for(rows.count, grain, [&](std::int64_t begin, std::int64_t end) {
      std::vector<S> scores(static_cast<std::size_t>(model.targets));
      std::vector<std::size_t> rivals;
      for (std::int64_t row = begin; row < end; ++row) {
        for (std::size_t t = 0; t < scores.size(); ++t) {
          Sum<S> sum(math::given<S>(model.intercepts.empty() ? 0.0F : model.intercepts[t]));
          const auto weights = model.coefficients.subspan(t * static_cast<std::size_t>(rows.features));
          for (std::int64_t i = 0; i < rows.features; ++i)
            sum.add_product(x[row * rows.features + i], math::given<S>(weights[static_cast<std::size_t>(i)]));
          scores[t] = sum.result();
        }
        if (!outputs.labels.empty()) {
          rivals.clear();
          const std::size_t best = ml::largest_score<S>(scores, &rivals);
          outputs.set_label(model.labels, row, best, rivals);
        }
        ml::apply_transform<S>(model.transform, scores);
        if (!y.empty()) std::copy(scores.begin(), scores.end(), y.begin() + row * model.targets);
      }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  for (const std::string_view op_type : {"LinearRegressor", "LinearClassifier"}) {
    const int outputs = op_type == "LinearClassifier" ? 2 : 1;
    table.add(with_kernels<Kernel>({.op_type = op_type,
                                    .domain = ml::domain,
                                    .inputs = {1, 1},
                                    .outputs = {outputs, outputs},
                                    .infer = infer}));
  }
}

}  // namespace driftscope::ops::linear_models
