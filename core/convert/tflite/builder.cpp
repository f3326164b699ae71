#include "core/convert/tflite/builder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace driftscope::tflite {

std::optional<fb::TensorType> tensor_type(DType dtype) {
  using enum fb::TensorType;
  switch (dtype) {
    case DType::float32: return FLOAT32;
    case DType::float16: return FLOAT16;
    case DType::float64: return FLOAT64;
    case DType::bfloat16: return BFLOAT16;
    case DType::uint8: return fb::TensorType::UINT8;
    case DType::int8: return fb::TensorType::INT8;
    case DType::uint16: return fb::TensorType::UINT16;
    case DType::int16: return fb::TensorType::INT16;
    case DType::uint32: return fb::TensorType::UINT32;
    case DType::int32: return fb::TensorType::INT32;
    case DType::uint64: return fb::TensorType::UINT64;
    case DType::int64: return fb::TensorType::INT64;
    case DType::boolean: return fb::TensorType::BOOL;
    default: return std::nullopt;
  }
}

Builder::Builder(const tf::TfGraph& graph, std::size_t bytes) : graph_(graph), tables_(bytes) {
  buffers_.push_back(fb::CreateBuffer(tables_));  // of tensors without data
}

const tf::TensorInfo& Builder::info(const std::string& value) const {
  static const tf::TensorInfo none;
  const auto found = graph_.tensors.find(value);
  return found == graph_.tensors.end() ? none : found->second;
}

const Tensor* Builder::constant_value(const std::string& value) const {
  const auto found = graph_.constants.find(value);
  return found == graph_.constants.end() ? nullptr : &found->second;
}

std::vector<std::string> Builder::outputs_of(const tf::Node& node) const {
  std::vector<std::string> outputs{node.name};
  for (int k = 1;; ++k) {
    std::string name = fmt::format("{}:{}", node.name, k);
    if (!graph_.tensors.contains(name)) return outputs;
    outputs.push_back(std::move(name));
  }
}

std::uint32_t Builder::add_buffer(std::span<const std::byte> bytes) {
  tables_.ForceVectorAlignment(bytes.size(), 1, 16);
  const auto data = tables_.CreateVector(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  buffers_.push_back(fb::CreateBuffer(tables_, data));
  return static_cast<std::uint32_t>(buffers_.size() - 1);
}

TensorIndex Builder::add_entry(Entry entry) {
  entries_.push_back(std::move(entry));
  return static_cast<TensorIndex>(entries_.size() - 1);
}

TensorIndex Builder::tensor(const std::string& value) {
  const auto found = by_value_.find(value);
  if (found != by_value_.end()) return found->second;
  const Tensor* constant = constant_value(value);
  Entry entry{value, info(value), constant == nullptr ? 0 : add_buffer(constant->bytes())};
  if (constant != nullptr) {
    entry.info.dtype = constant->dtype();
    entry.info.shape = constant->shape();
  }
  const TensorIndex index = add_entry(std::move(entry));
  by_value_.emplace(value, index);
  return index;
}

std::vector<TensorIndex> Builder::tensors(const std::vector<std::string>& values) {
  std::vector<TensorIndex> indices;
  for (const std::string& value : values) indices.push_back(tensor(value));
  return indices;
}

TensorIndex Builder::add_computed(std::string name, const tf::TensorInfo& info) {
  const int before = names_[name]++;
  if (before > 0) name = fmt::format("{}#{}", name, before);
  return add_entry({std::move(name), info, 0});
}

TensorIndex Builder::add_constant(std::string name, const Tensor& value,
                                  const tf::Quantization& quantization) {
  const TensorIndex index = add_computed(std::move(name), {value.dtype(), value.shape(), quantization});
  entries_[static_cast<std::size_t>(index)].buffer = add_buffer(value.bytes());
  return index;
}

TensorIndex Builder::add_indices(std::string name, const std::vector<std::int32_t>& values) {
  const TensorIndex index =
      add_computed(std::move(name), {DType::int32, {static_cast<std::int64_t>(values.size())}, {}});
  entries_[static_cast<std::size_t>(index)].buffer = add_buffer(std::as_bytes(std::span(values)));
  return index;
}

std::optional<TensorIndex> Builder::derived(const std::string& key) const {
  const auto found = derived_.find(key);
  return found == derived_.end() ? std::nullopt : std::optional(found->second);
}

std::uint32_t Builder::code_index(const Operator& made) {
  const auto [found, is_new] =
      codes_.try_emplace({made.code, made.version}, static_cast<std::uint32_t>(code_tables_.size()));
  if (is_new) {
    const int number = static_cast<int>(made.code);
    code_tables_.push_back(fb::CreateOperatorCode(tables_, static_cast<std::int8_t>(std::min(number, 127)), 0,
                                                  made.version, made.code));
  }
  return found->second;
}

void Builder::add(const Operator& made) {
  const std::uint32_t code = code_index(made);
  const auto inputs = tables_.CreateVector(made.inputs);
  const auto outputs = tables_.CreateVector(made.outputs);
  operators_.push_back(
      fb::CreateOperator(tables_, code, inputs, outputs, made.options.type, made.options.value));
}

void Builder::add(const tf::Node& node, fb::BuiltinOperator code, Options options, int version) {
  add({code, tensors(node.inputs), tensors(outputs_of(node)), options, version});
}

void Builder::add_copy_of_constant(TensorIndex value, TensorIndex copy, DType dtype) {
  if (dtype == DType::boolean)
    add({fb::BuiltinOperator::LOGICAL_OR, {value, value}, {copy}, default_options<fb::LogicalOrOptions>()});
  else
    add({fb::BuiltinOperator::MAXIMUM, {value, value}, {copy}, default_options<fb::MaximumMinimumOptions>()});
}

flatbuffers::Offset<fb::Tensor> Builder::write_tensor(const Entry& entry) {
  std::vector<std::int32_t> shape;
  for (const std::int64_t dimension : entry.info.shape) shape.push_back(static_cast<std::int32_t>(dimension));
  const tf::Quantization& quantization = entry.info.quantization;
  flatbuffers::Offset<fb::QuantizationParameters> parameters;
  if (!quantization.scales.empty()) {
    const auto scales = tables_.CreateVector(quantization.scales);
    const auto zero_points = tables_.CreateVector(quantization.zero_points);
    parameters =
        fb::CreateQuantizationParameters(tables_, 0, 0, scales, zero_points, fb::QuantizationDetails::NONE, 0,
                                         static_cast<std::int32_t>(quantization.axis));
  }
  const auto shape_offset = tables_.CreateVector(shape);
  const auto name = tables_.CreateString(entry.name);
  return fb::CreateTensor(tables_, shape_offset, *tensor_type(entry.info.dtype), entry.buffer, name,
                          parameters);
}

Result<std::vector<std::byte>> Builder::finish(
    const std::vector<std::pair<std::string, TensorIndex>>& outputs,
    const std::map<std::string, std::string>& metadata, const char* description) {
  for (const std::string& input : graph_.inputs) static_cast<void>(tensor(input));
  for (const Entry& entry : entries_) {
    if (!tensor_type(entry.info.dtype))
      return unsupported(fmt::format("'{}' is {}, which TensorFlow Lite does not have", entry.name,
                                     dtype_name(entry.info.dtype)));
    for (const std::int64_t dimension : entry.info.shape)
      if (dimension < 0 || dimension > INT32_MAX)
        return limit_error(fmt::format("'{}' has the shape {}: TensorFlow Lite's dimensions have 31 bits",
                                       entry.name, shape_text(entry.info.shape)));
  }
  std::vector<TensorIndex> input_tensors, output_tensors;
  std::vector<flatbuffers::Offset<fb::TensorMap>> input_names, output_names;
  for (const std::string& input : graph_.inputs) {
    input_tensors.push_back(tensor(input));
    input_names.push_back(
        fb::CreateTensorMapDirect(tables_, input.c_str(), static_cast<std::uint32_t>(input_tensors.back())));
  }
  for (const auto& [name, index] : outputs) {
    output_tensors.push_back(index);
    output_names.push_back(
        fb::CreateTensorMapDirect(tables_, name.c_str(), static_cast<std::uint32_t>(index)));
  }
  std::vector<flatbuffers::Offset<fb::Tensor>> tensor_tables;
  for (const Entry& entry : entries_) tensor_tables.push_back(write_tensor(entry));
  const auto subgraph =
      fb::CreateSubGraphDirect(tables_, &tensor_tables, &input_tensors, &output_tensors, &operators_, "main");
  const auto signature =
      fb::CreateSignatureDefDirect(tables_, &input_names, &output_names, "serving_default", 0);
  std::vector<flatbuffers::Offset<fb::Metadata>> notes;
  for (const auto& [name, text] : metadata)
    notes.push_back(
        fb::CreateMetadataDirect(tables_, name.c_str(), add_buffer(std::as_bytes(std::span(text)))));
  const std::vector subgraphs{subgraph};
  const std::vector signatures{signature};
  tables_.Finish(fb::CreateModelDirect(tables_, 3, &code_tables_, &subgraphs, description, &buffers_, nullptr,
                                       &notes, &signatures),
                 fb::ModelIdentifier());
  const auto* const begin = reinterpret_cast<const std::byte*>(tables_.GetBufferPointer());
  return std::vector<std::byte>(begin, begin + tables_.GetSize());
}

}  // namespace driftscope::tflite
