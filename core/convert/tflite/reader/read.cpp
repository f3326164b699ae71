#include "core/convert/tflite/reader/read.hpp"

#include <fmt/format.h>

#include <cstring>

#include "core/base/text.hpp"
#include "core/convert/tflite/reader/reader.hpp"
#include "core/model/tensor_elements.hpp"

namespace driftscope::tflite {
namespace {

constexpr std::size_t max_tensors = 1'000'000;

std::optional<DType> dtype_of(fb::TensorType type) {
  switch (type) {
    case fb::TensorType::FLOAT32: return DType::float32;
    case fb::TensorType::FLOAT16: return DType::float16;
    case fb::TensorType::FLOAT64: return DType::float64;
    case fb::TensorType::BFLOAT16: return DType::bfloat16;
    case fb::TensorType::INT32: return DType::int32;
    case fb::TensorType::INT64: return DType::int64;
    case fb::TensorType::UINT8: return DType::uint8;
    case fb::TensorType::INT8:
    case fb::TensorType::INT4: return DType::int8;  // two to a byte: unpacked
    case fb::TensorType::INT16: return DType::int16;
    case fb::TensorType::UINT16: return DType::uint16;
    case fb::TensorType::UINT32: return DType::uint32;
    case fb::TensorType::UINT64: return DType::uint64;
    case fb::TensorType::BOOL: return DType::boolean;
    default: return std::nullopt;
  }
}

Result<tf::TensorInfo> info_of(const fb::Tensor& tensor) {
  tf::TensorInfo info;
  const auto dtype = dtype_of(tensor.type());
  if (!dtype)
    return unsupported(fmt::format("of type {}, which is not supported", static_cast<int>(tensor.type())));
  info.dtype = *dtype;
  if (const auto* shape = tensor.shape())
    for (const std::int32_t size : *shape) {
      if (size < 0) return unsupported("with a size that is not known");
      info.shape.push_back(size);
    }
  DRIFTSCOPE_CHECK([&]() -> Status {
    DRIFTSCOPE_TRY(const std::int64_t bytes, tensor_byte_size(info.dtype, info.shape));
    (void)bytes;
    return {};
  }());
  const auto* quantization = tensor.quantization();
  if (quantization == nullptr || quantization->scale() == nullptr || quantization->scale()->size() == 0)
    return info;
  if (quantization->details_type() != fb::QuantizationDetails::NONE)
    return unsupported("with a quantization of its own kind");
  for (const float scale : *quantization->scale()) info.quantization.scales.push_back(scale);
  if (const auto* zeros = quantization->zero_point())
    for (const std::int64_t zero : *zeros) info.quantization.zero_points.push_back(zero);
  info.quantization.axis = quantization->quantized_dimension();
  const std::size_t count = info.quantization.scales.size();
  if (info.quantization.zero_points.size() > 1 && info.quantization.zero_points.size() != count)
    return bad_input(
        fmt::format("with {} scales and {} zero points", count, info.quantization.zero_points.size()));
  if (count > 1) {
    const std::int64_t axis = info.quantization.axis;
    if (axis < 0 || axis >= static_cast<std::int64_t>(info.shape.size()) ||
        info.shape[static_cast<std::size_t>(axis)] != static_cast<std::int64_t>(count))
      return bad_input(fmt::format("with {} scales for axis {} of {}", count, axis, shape_text(info.shape)));
  }
  return info;
}

}  // namespace

bool is_tflite(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, "TFL3", 4) == 0;
}

Result<tf::TfGraph> read(std::span<const std::byte> bytes) {
  if (!is_tflite(bytes)) return bad_input("this is not a .tflite file: the mark TFL3 is missing");
  constexpr std::uint32_t max_depth = 32;
  constexpr std::uint32_t max_tables = 8'000'000;
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return limit_error("TensorFlow Lite model: 2 GiB and more");
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), max_depth,
                                 max_tables);
  if (!fb::VerifyModelBuffer(verifier))
    return bad_input("TensorFlow Lite model: its tables are damaged or truncated");
  auto graph = Reader(*fb::GetModel(bytes.data()), bytes).read();
  if (!graph.ok()) return in_context(std::move(graph).error(), "TensorFlow Lite model");
  return graph;
}

std::string Reader::fresh(const std::string& wanted) {
  return taken_.take(wanted.empty() || !printable(wanted) ? "tensor" : wanted);
}

Result<std::span<const std::byte>> Reader::buffer(std::uint32_t index) const {
  const auto* buffers = model_.buffers();
  if (buffers == nullptr || index >= buffers->size())
    return bad_input(fmt::format("buffer {} of {}", index, buffers == nullptr ? 0 : buffers->size()));
  const fb::Buffer* const one = buffers->Get(index);
  if (one == nullptr) return std::span<const std::byte>();
  if (one->offset() > 1) {
    if (one->offset() > file_.size() || one->size() > file_.size() - one->offset())
      return bad_input(fmt::format("buffer {}: {} bytes at {}, the file has {}", index, one->size(),
                                   one->offset(), file_.size()));
    return file_.subspan(static_cast<std::size_t>(one->offset()), static_cast<std::size_t>(one->size()));
  }
  if (one->data() == nullptr) return std::span<const std::byte>();
  return std::as_bytes(std::span(one->data()->data(), one->data()->size()));
}

Status Reader::read_constant(std::size_t index, const fb::Tensor& tensor) {
  if (tensor.buffer() == 0) return {};
  DRIFTSCOPE_TRY(const auto bytes, buffer(tensor.buffer()));
  const std::string& name = names_[index];
  const tf::TensorInfo& info = graph_.tensors.at(name);
  const std::int64_t elements = element_count(info.shape);
  if (bytes.empty() && elements != 0) return {};
  if (tensor.is_variable()) return unsupported(fmt::format("tensor {} is a variable", in_quotes(name)));
  if (tensor.type() == fb::TensorType::INT4) {
    if (static_cast<std::int64_t>(bytes.size()) != (elements + 1) / 2)
      return bad_input(fmt::format("tensor {}: {} bytes for {} elements of 4 bits", in_quotes(name),
                                   bytes.size(), elements));
    DRIFTSCOPE_TRY(Tensor made, Tensor::unwritten(DType::int8, info.shape, name));
    DRIFTSCOPE_TRY(const Tensor packed, Tensor::from_bytes(DType::int4, info.shape, bytes, name));
    const auto values = elements_of<Element<DType::int4>>(packed);
    for (std::size_t i = 0; i < values.size(); ++i) made.mutable_values<std::int8_t>()[i] = values[i];
    graph_.constants.emplace(name, std::move(made));
  } else {
    DRIFTSCOPE_TRY(Tensor made, Tensor::from_bytes(info.dtype, info.shape, bytes, name));
    graph_.constants.emplace(name, std::move(made));
  }
  known_.insert(name);
  return {};
}

Status Reader::read_tensors(const fb::SubGraph& subgraph) {
  const auto* tensors = subgraph.tensors();
  if (tensors == nullptr) return bad_input("it has no tensors");
  if (tensors->size() > max_tensors)
    return limit_error(fmt::format("{} tensors, at most {}", tensors->size(), max_tensors));
  for (std::size_t i = 0; i < tensors->size(); ++i) {
    const fb::Tensor* const tensor = tensors->Get(static_cast<flatbuffers::uoffset_t>(i));
    if (tensor == nullptr) return bad_input(fmt::format("tensor {} is missing", i));
    names_.push_back(fresh(tensor->name() == nullptr ? "" : tensor->name()->str()));
    auto info = info_of(*tensor);
    if (!info.ok())
      return in_context(std::move(info).error(), fmt::format("tensor {}", in_quotes(names_[i])));
    graph_.tensors.emplace(names_[i], *std::move(info));
    DRIFTSCOPE_CHECK(read_constant(i, *tensor));
  }
  return {};
}

Status Reader::check_tensor(std::int32_t index) const {
  if (index < 0 || static_cast<std::size_t>(index) >= names_.size())
    return bad_input(fmt::format("tensor {} of {}", index, names_.size()));
  return {};
}

Result<ReadOperator> Reader::read_operator(const fb::Operator& from) {
  const auto* codes = model_.operator_codes();
  if (codes == nullptr || from.opcode_index() >= codes->size() || codes->Get(from.opcode_index()) == nullptr)
    return bad_input(
        fmt::format("operator code {} of {}", from.opcode_index(), codes == nullptr ? 0 : codes->size()));
  const fb::OperatorCode& code = *codes->Get(from.opcode_index());
  ReadOperator made;
  made.options = &from;
  made.code = std::max(code.builtin_code(), static_cast<fb::BuiltinOperator>(code.deprecated_builtin_code()));
  if (made.code == fb::BuiltinOperator::CUSTOM)
    return unsupported(fmt::format("the custom operator {}", code.custom_code() == nullptr
                                                                 ? "without a name"
                                                                 : in_quotes(code.custom_code()->str())));
  if (const auto* inputs = from.inputs())
    for (const std::int32_t index : *inputs) {
      if (index == -1) {
        made.inputs.emplace_back();
        continue;
      }
      DRIFTSCOPE_CHECK(check_tensor(index));
      made.inputs.push_back(names_[static_cast<std::size_t>(index)]);
      if (!known_.contains(made.inputs.back()))
        return bad_input(
            fmt::format("it reads {}, which no earlier operator produces", in_quotes(made.inputs.back())));
    }
  while (!made.inputs.empty() && made.inputs.back().empty()) made.inputs.pop_back();
  if (const auto* outputs = from.outputs())
    for (const std::int32_t index : *outputs) {
      DRIFTSCOPE_CHECK(check_tensor(index));
      made.outputs.push_back(names_[static_cast<std::size_t>(index)]);
      if (!known_.insert(made.outputs.back()).second)
        return bad_input(fmt::format("it produces {}, which exists already", in_quotes(made.outputs.back())));
    }
  if (made.outputs.empty()) return bad_input("it has no outputs");
  return made;
}

Result<tf::TfGraph> Reader::read() {
  const auto* subgraphs = model_.subgraphs();
  if (subgraphs == nullptr || subgraphs->size() == 0 || subgraphs->Get(0) == nullptr)
    return bad_input("it has no graph");
  const fb::SubGraph& subgraph = *subgraphs->Get(0);
  DRIFTSCOPE_CHECK(read_tensors(subgraph));
  if (const auto* inputs = subgraph.inputs())
    for (const std::int32_t index : *inputs) {
      DRIFTSCOPE_CHECK(check_tensor(index));
      const std::string& name = names_[static_cast<std::size_t>(index)];
      if (!known_.insert(name).second)
        return bad_input(fmt::format("input {} occurs twice", in_quotes(name)));
      graph_.inputs.push_back(name);
    }
  if (const auto* operators = subgraph.operators())
    for (std::size_t i = 0; i < operators->size(); ++i) {
      const fb::Operator* const one = operators->Get(static_cast<flatbuffers::uoffset_t>(i));
      const auto failed = [&](Error error) {
        return in_context(std::move(error), fmt::format("operator {}", i));
      };
      if (one == nullptr) return failed(bad_input("it is missing"));
      auto made = read_operator(*one);
      if (!made.ok()) return failed(std::move(made).error());
      if (auto status = read_node(*this, *made); !status.ok())
        return failed(in_context(
            std::move(status).error(),
            fmt::format("{} ({})", in_quotes(made->outputs[0]), fb::EnumNameBuiltinOperator(made->code))));
    }
  if (const auto* outputs = subgraph.outputs())
    for (const std::int32_t index : *outputs) {
      DRIFTSCOPE_CHECK(check_tensor(index));
      const std::string& name = names_[static_cast<std::size_t>(index)];
      if (!known_.contains(name))
        return bad_input(fmt::format("output {} is not produced by any operator", in_quotes(name)));
      bool twice = false;
      for (const std::string& other : graph_.outputs) twice = twice || other == name;
      if (!twice) graph_.outputs.push_back(name);
    }
  if (graph_.outputs.empty()) return bad_input("it has no outputs");
  return std::move(graph_);
}

}  // namespace driftscope::tflite
