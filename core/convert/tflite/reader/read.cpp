#include "core/convert/tflite/reader/read.hpp"

#include <fmt/format.h>

#include <cstring>

#include "core/base/text.hpp"
#include "core/convert/tflite/reader/reader.hpp"
#include "core/model/tensor_elements.hpp"

namespace driftscope::tflite {
namespace {

constexpr std::size_t max_tensors = 1'000'000;  // of all graphs of a model
constexpr int max_nesting = 8;
// Branches may be used more than once, and each use has its constants.
constexpr std::uint64_t max_uses = 4;
constexpr std::uint64_t free_bytes = std::uint64_t{1} << 20;

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

/// Open sizes are −1: shape itself has them, or a size to begin with while shape_signature says that it is
/// open.
Result<Shape> shape_of(const fb::Tensor& tensor) {
  Shape shape;
  if (tensor.shape() == nullptr) return shape;
  const auto* signature = tensor.shape_signature();
  if (signature != nullptr && signature->size() != tensor.shape()->size()) signature = nullptr;
  for (flatbuffers::uoffset_t i = 0; i < tensor.shape()->size(); ++i) {
    const std::int64_t size = tensor.shape()->Get(i);
    if (size < -1) return bad_input(fmt::format("axis {} has the size {}", i, size));
    shape.push_back(signature != nullptr && signature->Get(i) == -1 ? -1 : size);
  }
  return shape;
}

Result<tf::TensorInfo> info_of(const fb::Tensor& tensor) {
  tf::TensorInfo info;
  const auto dtype = dtype_of(tensor.type());
  if (!dtype)
    return unsupported(fmt::format("of type {}, which is not supported", static_cast<int>(tensor.type())));
  info.dtype = *dtype;
  if (tensor.sparsity() != nullptr) return unsupported("stored as a sparse tensor, which is not supported");
  DRIFTSCOPE_TRY(info.shape, shape_of(tensor));
  Shape smallest = info.shape;
  for (std::int64_t& size : smallest) size = std::max<std::int64_t>(size, size < 0 ? 1 : 0);
  DRIFTSCOPE_CHECK([&]() -> Status {
    DRIFTSCOPE_TRY(const std::int64_t bytes, tensor_byte_size(info.dtype, smallest));
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

std::string operator_name(const ReadOperator& from) {
  if (from.code != fb::BuiltinOperator::CUSTOM) return fb::EnumNameBuiltinOperator(from.code);
  return from.custom.empty() ? "a custom operator without a name" : "custom " + in_quotes(from.custom);
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
  ReadModel model{*fb::GetModel(bytes.data()), bytes};
  auto graph = Reader(model).read(0);
  if (!graph.ok()) return in_context(std::move(graph).error(), "TensorFlow Lite model");
  return graph;
}

std::string Reader::fresh(const std::string& wanted) {
  return read_.taken.take(wanted.empty() || !printable(wanted) ? "tensor" : wanted);
}

Result<std::span<const std::byte>> Reader::buffer(std::uint32_t index) const {
  const auto* buffers = read_.model.buffers();
  if (buffers == nullptr || index >= buffers->size())
    return bad_input(fmt::format("buffer {} of {}", index, buffers == nullptr ? 0 : buffers->size()));
  const fb::Buffer* const one = buffers->Get(index);
  if (one == nullptr) return std::span<const std::byte>();
  if (one->offset() > 1) {
    const auto file = read_.file;
    if (one->offset() > file.size() || one->size() > file.size() - one->offset())
      return bad_input(fmt::format("buffer {}: {} bytes at {}, the file has {}", index, one->size(),
                                   one->offset(), file.size()));
    return file.subspan(static_cast<std::size_t>(one->offset()), static_cast<std::size_t>(one->size()));
  }
  if (one->data() == nullptr) return std::span<const std::byte>();
  return std::as_bytes(std::span(one->data()->data(), one->data()->size()));
}

Status Reader::read_constant(std::size_t index, const fb::Tensor& tensor) {
  if (tensor.buffer() == 0) return {};
  DRIFTSCOPE_TRY(const auto bytes, buffer(tensor.buffer()));
  const std::string& name = names_[index];
  const tf::TensorInfo& info = graph_.tensors.at(name);
  if (std::ranges::find(info.shape, -1) != info.shape.end()) {
    if (bytes.empty()) return {};
    return bad_input(
        fmt::format("tensor {}: a constant of {} bytes with an open size", in_quotes(name), bytes.size()));
  }
  const std::int64_t elements = element_count(info.shape);
  if (bytes.empty() && elements != 0) return {};
  read_.constant_bytes += bytes.size();
  if (depth_ > 0 && read_.constant_bytes > max_uses * read_.file.size() + free_bytes)
    return limit_error(fmt::format("the constants of branches are used more than {} times", max_uses));
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
  read_.tensors += tensors->size();
  if (read_.tensors > max_tensors)
    return limit_error(fmt::format("{} tensors, at most {}", read_.tensors, max_tensors));
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
  const auto* codes = read_.model.operator_codes();
  if (codes == nullptr || from.opcode_index() >= codes->size() || codes->Get(from.opcode_index()) == nullptr)
    return bad_input(
        fmt::format("operator code {} of {}", from.opcode_index(), codes == nullptr ? 0 : codes->size()));
  const fb::OperatorCode& code = *codes->Get(from.opcode_index());
  ReadOperator made;
  made.options = &from;
  made.code = std::max(code.builtin_code(), static_cast<fb::BuiltinOperator>(code.deprecated_builtin_code()));
  if (code.custom_code() != nullptr) made.custom = code.custom_code()->str();
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

Result<std::shared_ptr<const tf::TfGraph>> Reader::branch(std::int32_t subgraph) {
  if (depth_ >= max_nesting)
    return limit_error(fmt::format("graphs inside graphs, more than {} deep", max_nesting));
  if (subgraph < 1) return bad_input(fmt::format("it runs graph {}; expected 1 and more", subgraph));
  auto graph = Reader(read_, depth_ + 1).read(static_cast<std::size_t>(subgraph));
  if (!graph.ok()) return in_context(std::move(graph).error(), fmt::format("graph {}", subgraph));
  return std::make_shared<const tf::TfGraph>(*std::move(graph));
}

Result<tf::TfGraph> Reader::read(std::size_t place) {
  const auto* subgraphs = read_.model.subgraphs();
  const std::size_t count = subgraphs == nullptr ? 0 : subgraphs->size();
  if (count == 0) return bad_input("it has no graph");
  const auto* const found =
      place < count ? subgraphs->Get(static_cast<flatbuffers::uoffset_t>(place)) : nullptr;
  if (found == nullptr) return bad_input(fmt::format("graph {} of {}", place, count));
  const fb::SubGraph& subgraph = *found;
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
        return failed(in_context(std::move(status).error(),
                                 fmt::format("{} ({})", in_quotes(made->outputs[0]), operator_name(*made))));
    }
  if (const auto* outputs = subgraph.outputs())
    for (const std::int32_t index : *outputs) {
      DRIFTSCOPE_CHECK(check_tensor(index));
      const std::string& name = names_[static_cast<std::size_t>(index)];
      if (!known_.contains(name))
        return bad_input(fmt::format("output {} is not produced by any operator", in_quotes(name)));
      bool twice = false;
      if (depth_ > 0) {
        graph_.outputs.push_back(name);
        continue;
      }
      for (const std::string& other : graph_.outputs) twice = twice || other == name;
      if (!twice) graph_.outputs.push_back(name);
    }
  if (graph_.outputs.empty()) return bad_input("it has no outputs");
  return std::move(graph_);
}

}  // namespace driftscope::tflite
