#include "core/convert/tf/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/model/indices_of.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::tf {
namespace {

// Integers of up to 32 bits, or 64 that fit.
Result<Tensor> as_int32(const Tensor& tensor, std::string_view name) {
  DRIFTSCOPE_TRY(Tensor result, Tensor::unwritten(DType::int32, tensor.shape(), name));
  const auto target = result.mutable_values<std::int32_t>();
  Status status = internal_error(fmt::format("{} is not an integer type", dtype_name(tensor.dtype())));
  visit_plain_integer(tensor.dtype(), [&]<class E>() {
    status = Status();
    const auto source = tensor.values<typename E::Stored>();
    for (std::size_t i = 0; i < source.size() && status.ok(); ++i) {
      if (!std::in_range<std::int32_t>(source[i]))
        status = unsupported(
            fmt::format("constant {}: its element {} is {}, which does not fit int32, the only integer type "
                        "of the target format",
                        name, i, source[i]));
      target[i] = static_cast<std::int32_t>(source[i]);
    }
  });
  DRIFTSCOPE_CHECK(std::move(status));
  return result;
}

}  // namespace

Result<DType> runtime_type(const Dialect& dialect, DType dtype) {
  switch (dtype) {
    case DType::float32:
    case DType::int32:
    case DType::boolean: return dtype;
    case DType::int64: return dialect.int64 ? DType::int64 : DType::int32;
    case DType::int8:
    case DType::uint8: return dialect.quantized ? dtype : DType::int32;
    case DType::int16:
    case DType::uint16: return DType::int32;
    default: return unsupported(fmt::format("{} has no tensors of {}", dialect.name, dtype_name(dtype)));
  }
}

Lowering::Lowering(const Graph& graph, const Dialect& dialect, std::vector<bool> wants_last)
    : graph_(graph), dialect_(dialect), wants_last_(std::move(wants_last)), forms_(graph.values.size()) {
  for (const Value& value : graph.values) value_names_.push_back(names_.take(value.name));
}

const Tensor* Lowering::constant(ValueId id) const {
  const auto& known = graph_.values[id].constant;
  return known ? &*known : nullptr;
}

Result<const Tensor*> Lowering::known(const OnnxNode& node, std::size_t input, std::string_view name) const {
  const Tensor* const tensor = constant(node.inputs[input]);
  if (tensor == nullptr)
    return unsupported(fmt::format("{} is computed while the model runs; {} needs it while converting",
                                   input_label(input, name), dialect_.name));
  return tensor;
}

Order Lowering::order(ValueId id) const {
  if (!forms_[id].empty()) return forms_[id].front().order;
  if (constant(id) == nullptr && wants_last_[id]) return channels_last(rank(id));
  return {};
}

// ---- reading

Result<std::string> Lowering::read(ValueId id, const Order& order) {
  const Order wanted = normalized(order);
  for (const Form& form : forms_[id])
    if (form.order == wanted) return form.tensor;
  if (const Tensor* const tensor = constant(id)) {
    const bool first = forms_[id].empty();
    std::string name = first ? value_names_[id] : names_.take(value_names_[id] + "/ordered");
    Tensor arranged = *tensor;
    if (!wanted.empty()) {
      DRIFTSCOPE_TRY(arranged, transposed(*tensor, wanted));
    }
    DRIFTSCOPE_TRY(name, add_constant(arranged, std::move(name)));
    forms_[id].push_back({wanted, name});
    return name;
  }
  if (forms_[id].empty()) {
    DRIFTSCOPE_CHECK(add_input(id, wanted));
    return forms_[id].front().tensor;
  }
  const Form from = forms_[id].front();
  DRIFTSCOPE_TRY(std::string tensor, converted(id, from, wanted));
  forms_[id].push_back({wanted, tensor});
  return tensor;
}

Result<std::string> Lowering::converted(ValueId id, const Form& from, const Order& order) {
  const Order permutation = between(from.order, order, rank(id));
  const TensorInfo& source = info(from.tensor);
  if (keeps_memory(source.shape, permutation))
    return reshape("reordered", from.tensor, ordered_shape(shape(id), order));
  return transpose("reordered", from.tensor, permutation);
}

Result<std::string> Lowering::read_memory(ValueId id) {
  if (constant(id) == nullptr) {
    const Order from = order(id);
    const Shape stored = ordered_shape(shape(id), from);
    if (keeps_memory(stored, between(from, {}, rank(id)))) return read(id, from);
  }
  return read(id);
}

Result<std::string> Lowering::read_broadcast(ValueId id, std::size_t rank, const Order& order) {
  const Shape own = shape(id);
  if (own.size() == rank) return read(id, order);
  if (order.empty() || element_count(own) == 1) return read(id);
  Shape extended(rank - own.size(), 1);
  extended.insert(extended.end(), own.begin(), own.end());
  if (const Tensor* const tensor = constant(id)) {
    DRIFTSCOPE_TRY(const Tensor reshaped, tensor->reshaped(extended));
    DRIFTSCOPE_TRY(Tensor arranged, transposed(reshaped, order));
    return weights(id, arranged);
  }
  DRIFTSCOPE_TRY(std::string tensor, read(id));
  if (keeps_memory(extended, order)) return reshape("aligned", tensor, ordered_shape(extended, order));
  DRIFTSCOPE_TRY(tensor, reshape("aligned", tensor, extended));
  return transpose("aligned_order", tensor, order);
}

// ---- constants

Result<std::string> Lowering::add_constant(const Tensor& tensor, std::string name) {
  DRIFTSCOPE_TRY(const DType dtype, runtime_type(dialect_, tensor.dtype()));
  Tensor held = tensor;
  if (dtype != tensor.dtype()) {
    DRIFTSCOPE_TRY(held, as_int32(tensor, name));
  }
  lowered_.graph.tensors[name] = {dtype, held.shape(), {}};
  lowered_.graph.constants.emplace(name, std::move(held));
  return name;
}

Result<std::string> Lowering::constant(const Tensor& tensor, std::string_view suffix) {
  return add_constant(tensor, named(suffix));
}

Result<std::string> Lowering::ints(std::span<const std::int64_t> values, std::string_view suffix) {
  const std::vector<std::int64_t> key(values.begin(), values.end());
  if (const auto found = vectors_.find(key); found != vectors_.end()) return found->second;
  DRIFTSCOPE_TRY(const Tensor tensor,
                 Tensor::from_values<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
  DRIFTSCOPE_TRY(const std::string name, add_constant(tensor, named(suffix)));
  return vectors_[key] = name;
}

std::string Lowering::number(double value, DType dtype) {
  const std::pair key(dtype,
                      std::bit_cast<std::uint64_t>(value));  // −0 is not 0, and NaN is equal to nothing
  if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
  const auto made = scalar(value, dtype, "number");
  if (made.ok()) return numbers_[key] = *made;
  status_ = made.error();
  const std::string name = named("number");
  lowered_.graph.tensors[name] = {};
  return name;
}

Result<std::string> Lowering::scalar_int(std::int64_t value, std::string_view suffix) {
  DRIFTSCOPE_TRY(const Tensor tensor, Tensor::from_values<std::int64_t>({}, std::span(&value, 1)));
  return add_constant(tensor, named(suffix));
}

Result<std::string> Lowering::scalar(double value, DType dtype, std::string_view suffix) {
  if (is_floating(dtype)) {
    const auto single = static_cast<float>(value);
    DRIFTSCOPE_TRY(Tensor tensor, Tensor::from_values<float>({}, std::span(&single, 1)));
    return constant(tensor, suffix);
  }
  if (dtype == DType::boolean) {
    DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(DType::boolean, {}));
    tensor.mutable_bytes()[0] = std::byte{value != 0.0};
    return constant(tensor, suffix);
  }
  if (!(std::fabs(value) < 0x1p63))
    return unsupported(fmt::format("no integer type here can hold {}", value));
  return scalar_int(static_cast<std::int64_t>(value), suffix);
}

Result<std::string> Lowering::weights(ValueId id, const Tensor& arranged) {
  return add_constant(arranged, names_.take(value_names_[id] + "/arranged"));
}

// ---- nodes

void Lowering::begin(const OnnxNode& node) {
  node_ = &node;
  const auto first =
      std::find_if(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id != no_value; });
  stem_ = first == node.outputs.end() ? node.name : value_names_[*first];
}

std::string Lowering::named(std::string_view suffix) {
  return names_.take(fmt::format("{}/{}", stem_, suffix));
}

void Lowering::add(Node node, std::vector<TensorInfo> outputs) {
  if (node_ != nullptr) node.source = node_->name;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    lowered_.graph.tensors[k == 0 ? node.name : fmt::format("{}:{}", node.name, k)] = std::move(outputs[k]);
  lowered_.graph.nodes.push_back(std::move(node));
}

std::string Lowering::make(std::string_view suffix, std::string_view op, Inputs inputs, Attributes attributes,
                           TensorInfo output) {
  return make_many(suffix, op, std::move(inputs), std::move(attributes), {std::move(output)}).front();
}

std::vector<std::string> Lowering::make_many(std::string_view suffix, std::string_view op, Inputs inputs,
                                             Attributes attributes, std::vector<TensorInfo> outputs) {
  const std::string name = named(suffix);
  std::vector<std::string> tensors = {name};
  for (std::size_t k = 1; k < outputs.size(); ++k) tensors.push_back(fmt::format("{}:{}", name, k));
  add({name, std::string(op), std::move(inputs), std::move(attributes), {}}, std::move(outputs));
  return tensors;
}

Result<std::string> Lowering::reshape(std::string_view suffix, const std::string& tensor, Shape shape) {
  const TensorInfo source = info(tensor);
  if (source.shape == shape) return tensor;
  DRIFTSCOPE_TRY(const std::string sizes, ints(shape, fmt::format("{}_shape", suffix)));
  return make(suffix, "Reshape", {tensor, sizes}, {}, {source.dtype, std::move(shape), {}});
}

Result<std::string> Lowering::transpose(std::string_view suffix, const std::string& tensor,
                                        const Order& permutation) {
  const TensorInfo source = info(tensor);
  if (normalized(permutation).empty()) return tensor;
  const std::vector<std::int64_t> axes(permutation.begin(), permutation.end());
  DRIFTSCOPE_TRY(const std::string perm, ints(axes, fmt::format("{}_perm", suffix)));
  return make(suffix, "Transpose", {tensor, perm}, {},
              {source.dtype, ordered_shape(source.shape, permutation), {}});
}

std::string Lowering::elementwise(std::string_view suffix, std::string_view op, Inputs inputs, DType dtype) {
  TensorInfo output;
  output.dtype = dtype == DType::undefined ? info(inputs.front()).dtype : dtype;
  for (const std::string& input : inputs) {
    const Shape& shape = info(input).shape;
    if (shape.size() > output.shape.size())
      output.shape.insert(output.shape.begin(), shape.size() - output.shape.size(), 1);
    const std::size_t skipped = output.shape.size() - shape.size();
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] != 1) output.shape[skipped + axis] = shape[axis];
  }
  return make(suffix, op, std::move(inputs), {}, std::move(output));
}

Status Lowering::give(ValueId id, std::string_view op, Inputs inputs, Attributes attributes,
                      const Order& order) {
  return give_all(std::span(&id, 1), op, std::move(inputs), std::move(attributes), order);
}

Status Lowering::give_all(std::span<const ValueId> ids, std::string_view op, Inputs inputs,
                          Attributes attributes, const Order& order) {
  const Order given = normalized(order);
  // Output 0 may not be wanted, and names the node all the same.
  const std::string name = ids.front() == no_value ? named("unused") : value_names_[ids.front()];
  std::vector<TensorInfo> outputs;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    outputs.emplace_back();
    if (ids[k] == no_value) continue;
    DRIFTSCOPE_TRY(const DType dtype, runtime_type(dialect_, this->dtype(ids[k])));
    outputs.back() = {dtype, ordered_shape(shape(ids[k]), given), {}};
    forms_[ids[k]].push_back({given, k == 0 ? name : fmt::format("{}:{}", name, k)});
  }
  add({name, std::string(op), std::move(inputs), std::move(attributes), {}}, std::move(outputs));
  return {};
}

Status Lowering::give_reshaped(ValueId id, const std::string& tensor, const Order& order) {
  DRIFTSCOPE_TRY(const std::string sizes, ints(ordered_shape(shape(id), order), "shape"));
  return give(id, "Reshape", {tensor, sizes}, {}, order);
}

// ---- the graph's ends

Status Lowering::add_input(ValueId id, const Order& order) {
  DRIFTSCOPE_TRY(const DType dtype, runtime_type(dialect_, this->dtype(id)));
  const std::string& name = value_names_[id];
  lowered_.graph.inputs.push_back(name);
  lowered_.graph.tensors[name] = {dtype, ordered_shape(shape(id), order), {}};
  forms_[id].push_back({order, name});
  return {};
}

Result<convert::PlacedValue> Lowering::place(ValueId id) {
  if (forms_[id].empty() && constant(id) == nullptr) DRIFTSCOPE_CHECK(add_input(id, order(id)));
  if (forms_[id].empty())
    return internal_error(fmt::format("value {} was not given", graph_.values[id].name));
  const Form& form = forms_[id].front();
  return convert::PlacedValue{form.tensor, form.order, info(form.tensor).dtype};
}

Result<convert::PlacedValue> Lowering::place_copy(ValueId id) {
  node_ = nullptr;
  stem_ = value_names_[id];
  const Order from = order(id);
  DRIFTSCOPE_TRY(const std::string tensor, read(id, from));
  const TensorInfo type = info(tensor);
  return convert::PlacedValue{make("output", "Identity", {tensor}, {}, type), from, type.dtype};
}

}  // namespace driftscope::tf
