// ai.onnx.ml Scaler ((x − offset)·scale), Normalizer (each row over its largest element, Σ|x| or √Σx²; a row
// whose norm is 0 stays), Binarizer (x > threshold) and Imputer (a value in place of those that are missing),
// opset 1 to 5. Integers become float32, but for Imputer.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/ops/ml/shared/ml_attributes.hpp"

namespace driftscope::ops::feature_scaling {

/// One value for all features, or one for each.
Status expect_per_feature(const InferContext& context, std::string_view name, std::size_t count) {
  const Dimension features = ml::features_of(context);
  if (count == 1 || !features.known() || static_cast<std::int64_t>(count) == features.size) return {};
  return bad_input(
      fmt::format("attribute {}: expected 1 value or {} (features), got {}", name, features.size, count));
}

Result<std::vector<TensorType>> float_like(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::numeric));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 1, max_rank));
  return std::vector{TensorType{DType::float32, context.input(0).shape}};
}

Result<std::vector<TensorType>> infer_scaler(const InferContext& context) {
  for (const std::string_view name : {"offset", "scale"}) {
    DRIFTSCOPE_TRY(const auto values, ml::list_attribute<float>(context.node(), name));
    if (!values.empty()) DRIFTSCOPE_CHECK(expect_per_feature(context, name, values.size()));
  }
  return float_like(context);
}

struct Scaler {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const auto offset, ml::list_attribute<float>(context.node(), "offset"));
    DRIFTSCOPE_TRY(const auto scale, ml::list_attribute<float>(context.node(), "scale"));
    const ml::Numbers<S> x(context, 0);
    const std::span<S> y = context.real_output(0);
    const auto features = static_cast<std::size_t>(ml::rows_of(context.shape(0)).features);
    const auto of = [&](std::span<const float> values, std::size_t i, float none) {
      return math::given<S>(values.empty() ? none : values[values.size() == 1 ? 0 : i % features]);
    };
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = (x[i] - of(offset, i, 0.0F)) * of(scale, i, 1.0F);
    return {};
  }
};

Result<char> norm_of(const Node& node) {
  DRIFTSCOPE_TRY(const std::string norm, string_attribute(node, "norm", "MAX"));
  if (norm == "MAX") return 'M';
  if (norm == "L1") return '1';
  if (norm == "L2") return '2';
  return bad_input(fmt::format("attribute norm: expected MAX, L1 or L2, got {}", in_quotes(norm)));
}

Result<std::vector<TensorType>> infer_normalizer(const InferContext& context) {
  DRIFTSCOPE_TRY([[maybe_unused]] const char norm, norm_of(context.node()));
  DRIFTSCOPE_CHECK(ml::expect_rows(context));
  return float_like(context);
}

struct Normalizer {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const char kind, norm_of(context.node()));
    const ml::Numbers<S> x(context, 0);
    const std::span<S> y = context.real_output(0);
    const ml::Rows rows = ml::rows_of(context.shape(0));
    const auto size = static_cast<std::size_t>(rows.features);
    for (std::size_t begin = 0; size > 0 && begin < y.size(); begin += size)
      normalize<S>(kind, x, begin, y.subspan(begin, size));
    return {};
  }

 private:
  template <class S>
  static void normalize(char kind, const ml::Numbers<S>& x, std::size_t begin, std::span<S> y) {
    S largest = x[begin];
    Sum<S> sum;
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = x[begin + i];
      largest = math::max(largest, y[i]);
      if (kind == '1') sum.add(math::abs(y[i]));
      if (kind == '2') sum.add_product(y[i], y[i]);
    }
    const S total = sum.result();
    const S norm = kind == 'M' ? largest : kind == '1' ? total : math::sqrt(total);
    if (math::to_double(norm) == 0.0) {
      if constexpr (std::is_same_v<S, Bounded>)
        if (norm.worst > 0.0)
          for (S& out : y) out.worst = out.likely = std::numeric_limits<double>::infinity();
      return;
    }
    for (S& out : y) {
      const S in = out;
      out = in / norm;
      if constexpr (std::is_same_v<S, Bounded>) {
        if (kind != '2') continue;
        const Bounded squares = sqrt(in * in / total);  // as ONNX Runtime has it
        out.worst = std::fmax(out.worst, squares.worst);
        out.likely = std::fmax(out.likely, squares.likely);
        out.systematic = std::fmax(out.systematic, squares.systematic);
      }
    }
  }
};

Result<std::vector<TensorType>> infer_binarizer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::numeric));
  if (context.input(0).dtype != DType::undefined && !is_floating(context.input(0).dtype))
    return unsupported("input 0 (X): integers are not known here");
  return std::vector{context.input(0)};
}

struct Binarizer {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const float threshold, float_attribute(context.node(), "threshold", 0.0F));
    const std::span<S> y = context.real_output(0);
    const RealElements<S> x(context, 0);
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = math::split_at(
          x[i], math::given<S>(threshold), [](const S&) { return S(0.0F); },
          [](const S&) { return S(1.0F); });
    return {};
  }
};

Result<std::vector<TensorType>> infer_imputer(const InferContext& context) {
  DRIFTSCOPE_CHECK(ml::expect_rows(context));
  const DType dtype = context.input(0).dtype;
  if (dtype != DType::undefined && !is_floating(dtype) && dtype != DType::int64)
    return unsupported(fmt::format("input 0 (X): {} is not known here", dtype_name(dtype)));
  const std::string_view name = dtype == DType::int64 ? "imputed_value_int64s" : "imputed_value_floats";
  DRIFTSCOPE_TRY(const auto floats, ml::list_attribute<float>(context.node(), "imputed_value_floats"));
  DRIFTSCOPE_TRY(const auto longs, ml::list_attribute<std::int64_t>(context.node(), "imputed_value_int64s"));
  const std::size_t count = dtype == DType::int64 ? longs.size() : floats.size();
  if (dtype != DType::undefined && count == 0)
    return bad_input(fmt::format("attribute {}: it is required for {}", name, dtype_name(dtype)));
  if (count > 0) DRIFTSCOPE_CHECK(expect_per_feature(context, name, count));
  return std::vector{context.input(0)};
}

struct Imputer {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const auto features = static_cast<std::size_t>(ml::rows_of(context.shape(0)).features);
    const auto at = [&](std::size_t i, std::size_t count) { return count == 1 ? 0 : i % features; };
    if (context.dtype(0) == DType::int64) {
      DRIFTSCOPE_TRY(const auto values,
                     ml::list_attribute<std::int64_t>(context.node(), "imputed_value_int64s"));
      DRIFTSCOPE_TRY(const std::int64_t missing, int_attribute(context.node(), "replaced_value_int64", 0));
      const auto x = context.tensor(0).template values<std::int64_t>();
      const auto y = context.tensor_output(0).template mutable_values<std::int64_t>();
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] == missing ? values[at(i, values.size())] : x[i];
      return {};
    }
    DRIFTSCOPE_TRY(const auto values, ml::list_attribute<float>(context.node(), "imputed_value_floats"));
    DRIFTSCOPE_TRY(const float missing, float_attribute(context.node(), "replaced_value_float", 0.0F));
    const RealElements<S> x(context, 0);
    const std::span<S> y = context.real_output(0);
    const double wanted = static_cast<double>(missing);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const S in = x[i];
      const double value = math::to_double(in);
      const bool replaced = wanted != wanted ? value != value : value == wanted;
      const S other = math::given<S>(values[at(i, values.size())]);
      y[i] = replaced ? other : in;
      if constexpr (std::is_same_v<S, Bounded>)
        if (in.worst > 0.0 && !(std::fabs(value - wanted) > in.worst)) {
          const double jump = std::fabs(other.value - in.value) + in.worst;
          y[i] = {y[i].value, jump, jump};
        }
    }
    return {};
  }
};

template <class Kernel>
void add_row(OperatorTable& table, std::string_view op_type, ShapeRule infer) {
  table.add(with_kernels<Kernel>(
      {.op_type = op_type, .domain = ml::domain, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer}));
}

void add_to(OperatorTable& table) {
  add_row<Scaler>(table, "Scaler", infer_scaler);
  add_row<Normalizer>(table, "Normalizer", infer_normalizer);
  add_row<Binarizer>(table, "Binarizer", infer_binarizer);
  add_row<Imputer>(table, "Imputer", infer_imputer);
}

}  // namespace driftscope::ops::feature_scaling
