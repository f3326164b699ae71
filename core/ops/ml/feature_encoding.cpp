// ai.onnx.ml LabelEncoder, opset 2 to 5 (a table from numbers to numbers), OneHotEncoder (of integer
// categories), ArrayFeatureExtractor (elements along the last axis) and FeatureVectorizer (inputs side by
// side), opset 1 to 5. Tables with strings are not supported, since strings are not.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/ml/shared/ml_attributes.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/move.hpp"

namespace driftscope::ops::feature_encoding {

/// One side of a LabelEncoder: int64 or floats.
struct Column {
  std::span<const std::int64_t> longs;
  ml::Reals reals;
  bool floating = false;
  DType dtype = DType::int64;
  [[nodiscard]] std::size_t size() const { return floating ? reals.size() : longs.size(); }
};

Result<Column> read_column(const Node& node, const std::string& side) {
  Column column;
  DRIFTSCOPE_TRY(const auto texts, ml::list_attribute<std::string>(node, side + "_strings"));
  if (!texts.empty())
    return unsupported(fmt::format("attribute {}_strings: strings are not supported", side));
  DRIFTSCOPE_TRY(column.longs, ml::list_attribute<std::int64_t>(node, side + "_int64s"));
  DRIFTSCOPE_TRY(const auto floats, ml::list_attribute<float>(node, side + "_floats"));
  if (!column.longs.empty()) return column;
  column.floating = true;
  column.dtype = DType::float32;
  column.reals = ml::Reals(floats);
  if (!floats.empty()) return column;
  const Attribute* attribute = node.attribute(side + "_tensor");
  const Tensor* tensor = attribute == nullptr ? nullptr : std::get_if<Tensor>(&attribute->value);
  if (tensor == nullptr)
    return attribute != nullptr
               ? unsupported(fmt::format("attribute {}_tensor: a tensor of its type is not supported", side))
               : bad_input(
                     fmt::format("attributes {}_int64s, {}_floats and {}_tensor: one of them is required",
                                 side, side, side));
  column.dtype = tensor->dtype();
  column.floating = is_floating(column.dtype);
  if (column.dtype == DType::int64) {
    column.longs = tensor->values<std::int64_t>();
  } else {
    if (column.dtype != DType::float32 && column.dtype != DType::float64)
      return unsupported(
          fmt::format("attribute {}_tensor: {} is not known here", side, dtype_name(column.dtype)));
    DRIFTSCOPE_TRY(column.reals, ml::real_tensor_attribute(node, side + "_tensor"));
  }
  return column;
}

struct Table {
  Column keys;
  Column values;
  double default_real = 0.0;
  std::int64_t default_long = -1;
};

Result<Table> read_table(const Node& node) {
  Table table;
  DRIFTSCOPE_TRY(table.keys, read_column(node, "keys"));
  DRIFTSCOPE_TRY(table.values, read_column(node, "values"));
  if (table.keys.size() != table.values.size())
    return bad_input(
        fmt::format("attributes keys_* and values_*: expected as many values as keys, {}, got {}",
                    table.keys.size(), table.values.size()));
  DRIFTSCOPE_TRY(const float real, float_attribute(node, "default_float", -0.0F));
  DRIFTSCOPE_TRY(table.default_long, int_attribute(node, "default_int64", -1));
  table.default_real = static_cast<double>(real);
  const Attribute* attribute = node.attribute("default_tensor");
  if (attribute == nullptr) return table;
  const Tensor* tensor = std::get_if<Tensor>(&attribute->value);
  if (tensor == nullptr || tensor->dtype() != table.values.dtype || tensor->elements() != 1)
    return bad_input(fmt::format("attribute default_tensor: expected one element of {}, as the values",
                                 dtype_name(table.values.dtype)));
  if (tensor->dtype() == DType::int64)
    table.default_long = tensor->values<std::int64_t>()[0];
  else
    table.default_real =
        ml::Reals(tensor->dtype() == DType::float32 ? ml::Reals(tensor->values<float>())
                                                    : ml::Reals(tensor->values<double>()))[0];
  return table;
}

Result<std::vector<TensorType>> infer_labels(const InferContext& context) {
  DRIFTSCOPE_TRY(const Table table, read_table(context.node()));
  const DType dtype = context.input(0).dtype;
  if (dtype != DType::undefined && dtype != table.keys.dtype)
    return bad_input(fmt::format("{}: expected {}, as the keys, got {}", input_label(0, "X"),
                                 dtype_name(table.keys.dtype), dtype_name(dtype)));
  return std::vector{TensorType{table.values.dtype, context.input(0).shape}};
}

/// Sorted keys; NaN is a key like others. The first of equal ones counts.
template <class K>
class Index {
 public:
  template <class At>
  Index(std::size_t size, const At& at) {
    for (std::size_t i = 0; i < size; ++i) places_.push_back({at(i), i});
    std::sort(places_.begin(), places_.end(), less);
  }
  /// The place of a key, or none.
  [[nodiscard]] std::size_t find(K key) const {
    const auto found = std::lower_bound(places_.begin(), places_.end(), std::pair(key, std::size_t{0}), less);
    const bool same = found != places_.end() && !before(key, found->first) && !before(found->first, key);
    return same ? found->second : none;
  }
  static constexpr std::size_t none = ~std::size_t{0};

 private:
  static bool before(K a, K b) { return a < b || (a == a && b != b); }
  static bool less(const std::pair<K, std::size_t>& a, const std::pair<K, std::size_t>& b) {
    return before(a.first, b.first) || (!before(b.first, a.first) && a.second < b.second);
  }
  std::vector<std::pair<K, std::size_t>> places_;
};

struct LabelEncoder {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Table table, read_table(context.node()));
    const auto count = static_cast<std::size_t>(element_count(context.shape(0)));
    const auto write = [&](std::size_t i, std::size_t place) {
      const bool found = place != ~std::size_t{0};
      if (table.values.floating)
        context.real_output(0)[i] = math::exact<S>(found ? table.values.reals[place] : table.default_real);
      else
        context.tensor_output(0).template mutable_values<std::int64_t>()[i] =
            found ? table.values.longs[place] : table.default_long;
    };
    if (!table.keys.floating) {
      const Index<std::int64_t> index(table.keys.size(), [&](std::size_t i) { return table.keys.longs[i]; });
      const auto x = context.tensor(0).template values<std::int64_t>();
      for (std::size_t i = 0; i < count; ++i) write(i, index.find(x[i]));
      return {};
    }
    const Index<double> index(table.keys.size(), [&](std::size_t i) { return table.keys.reals[i]; });
    if constexpr (std::is_same_v<S, Bounded>)
      if (math::has_error(context.real(0)))
        return unsupported(
            "rounding in earlier nodes may have changed its keys; record them to judge this node");
    const RealElements<S> x(context, 0);
    for (std::size_t i = 0; i < count; ++i) write(i, index.find(math::to_double(x[i])));
    return {};
  }
};

Result<std::span<const std::int64_t>> categories(const Node& node) {
  DRIFTSCOPE_TRY(const auto texts, ml::list_attribute<std::string>(node, "cats_strings"));
  if (!texts.empty()) return unsupported("attribute cats_strings: strings are not supported");
  DRIFTSCOPE_TRY(const auto list, ml::list_attribute<std::int64_t>(node, "cats_int64s"));
  if (list.empty()) return bad_input("attribute cats_int64s: it is missing or empty");
  return list;
}

Result<std::vector<TensorType>> infer_one_hot(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::numeric));
  DRIFTSCOPE_TRY(const auto list, categories(context.node()));
  TensorType y{DType::float32, context.input(0).shape};
  if (y.shape) y.shape->push_back(known_dimension(static_cast<std::int64_t>(list.size())));
  return std::vector{std::move(y)};
}

struct OneHotEncoder {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const auto list, categories(context.node()));
    DRIFTSCOPE_TRY(const bool zeros, flag_attribute(context.node(), "zeros", true));
    const Index<std::int64_t> index(list.size(), [&](std::size_t i) { return list[i]; });
    if constexpr (std::is_same_v<S, Bounded>)
      if (is_floating(context.dtype(0)) && math::has_error(context.real(0)))
        return unsupported(
            "rounding in earlier nodes may have changed its categories; record them to judge this "
            "node");
    const std::span<S> y = context.real_output(0);
    std::fill(y.begin(), y.end(), S(0.0F));
    Status status;
    const auto mark = [&](std::size_t i, std::size_t place, auto value) {
      if (place != Index<std::int64_t>::none)
        y[i * list.size() + place] = S(1.0F);
      else if (!zeros && status.ok())
        status = bad_input(
            fmt::format("input 0 (X): element {} is {}, no category of cats_int64s (zeros is 0)", i, value));
    };
    if (is_floating(context.dtype(0))) {
      const RealElements<S> x(context, 0);
      for (std::size_t i = 0; i < static_cast<std::size_t>(element_count(context.shape(0))); ++i) {
        const double value = math::to_double(x[i]);
        const bool whole = std::fabs(value) < 0x1p63;  // others and NaN are in no list
        mark(i, whole ? index.find(static_cast<std::int64_t>(value)) : Index<std::int64_t>::none, value);
      }
      return status;
    }
    visit_plain_integer(context.dtype(0), [&]<class E>() {  // not as floats, which ends at 2^24
      const auto x = context.tensor(0).template values<typename E::Stored>();
      for (std::size_t i = 0; i < x.size(); ++i) {
        const bool held = !std::is_same_v<typename E::Stored, std::uint64_t> ||
                          static_cast<std::uint64_t>(x[i]) <= 0x7fffffffffffffffU;
        mark(i, held ? index.find(static_cast<std::int64_t>(x[i])) : Index<std::int64_t>::none, x[i]);
      }
    });
    return status;
  }
};

Result<std::vector<TensorType>> infer_extractor(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::fixed_size));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 1, max_rank));
  DRIFTSCOPE_CHECK(expect_index(context, 1, "Y"));
  TensorType y{context.input(0).dtype, std::nullopt};
  if (!context.input(0).shape || !context.input(1).shape) return std::vector{std::move(y)};
  y.shape = context.input(0).shape;
  if (y.shape->size() == 1) y.shape->insert(y.shape->begin(), known_dimension(1));
  DRIFTSCOPE_TRY(y.shape->back(), multiply(*context.input(1).shape));
  return std::vector{std::move(y)};
}

struct ArrayFeatureExtractor {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, "Y"));
    const std::int64_t size = context.shape(0).back();
    DRIFTSCOPE_TRY(const auto places, positions_of(context.tensor(1), size, 1, "Y"));
    constexpr std::array<std::size_t, 1> inputs = {0};
    move_elements(context, inputs, 0, [&](auto sources, auto target) {
      const std::size_t rows = places.empty() ? 0 : target.size() / places.size();
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t i = 0; i < places.size(); ++i)
          target[row * places.size() + i] =
              sources[0][row * static_cast<std::size_t>(size) + static_cast<std::size_t>(places[i])];
    });
    return {};
  }
};

Result<std::vector<TensorType>> infer_vectorizer(const InferContext& context) {
  DRIFTSCOPE_TRY(const auto widths, ml::list_attribute<std::int64_t>(context.node(), "inputdimensions"));
  DRIFTSCOPE_CHECK(ml::expect_size("inputdimensions", widths.size(), context.input_count(), "inputs"));
  std::int64_t total = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] < 0 || widths[i] > (std::int64_t{1} << 31))
      return bad_input(
          fmt::format("attribute inputdimensions: value {} is {}, expected 0 to 2147483648", i, widths[i]));
    total += widths[i];
    DRIFTSCOPE_CHECK(expect_kind(context, i, "X", Kinds::numeric));
    const auto& shape = context.input(i).shape;
    if (!shape) continue;
    if (shape->empty() || shape->size() > 2)
      return bad_input(fmt::format("{}: expected rank 1 or 2, got {}", input_label(i, "X"), shape->size()));
    const Dimension rows = shape->size() == 2 ? shape->front() : known_dimension(1);
    if (!unify(rows, ml::rows_of(context)))
      return bad_input(fmt::format("{}: expected as many rows as input 0, {}, got {}", input_label(i, "X"),
                                   ml::rows_of(context).size, rows.size));
  }
  return std::vector{TensorType{DType::float32, SymbolicShape{ml::rows_of(context), known_dimension(total)}}};
}

// A row is cut or filled up with zeros to the width that it is declared to have.
struct FeatureVectorizer {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const auto widths, ml::list_attribute<std::int64_t>(context.node(), "inputdimensions"));
    const std::span<S> y = context.real_output(0);
    std::fill(y.begin(), y.end(), S(0.0F));
    const std::int64_t total = context.output_shape(0).back();
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const ml::Numbers<S> x(context, i);
      const ml::Rows rows = ml::rows_of(context.shape(i));
      for (std::int64_t row = 0; row < rows.count; ++row)
        for (std::int64_t f = 0; f < std::min(rows.features, widths[i]); ++f)
          y[static_cast<std::size_t>(row * total + begin + f)] = x[row * rows.features + f];
      begin += widths[i];
    }
    return {};
  }
};

template <class Kernel>
void add_row(OperatorTable& table, std::string_view op_type, Count inputs, ShapeRule infer,
             std::int64_t since = 1) {
  table.add(with_kernels<Kernel>({.op_type = op_type,
                                  .domain = ml::domain,
                                  .since = since,
                                  .inputs = inputs,
                                  .outputs = {1, 1},
                                  .infer = infer}));
}

void add_to(OperatorTable& table) {
  add_row<LabelEncoder>(table, "LabelEncoder", {1, 1}, infer_labels, 2);
  add_row<OneHotEncoder>(table, "OneHotEncoder", {1, 1}, infer_one_hot);
  add_row<ArrayFeatureExtractor>(table, "ArrayFeatureExtractor", {2, 2}, infer_extractor);
  add_row<FeatureVectorizer>(table, "FeatureVectorizer", {1, variadic}, infer_vectorizer);
}

}  // namespace driftscope::ops::feature_encoding
