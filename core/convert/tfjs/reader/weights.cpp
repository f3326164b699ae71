// The weights manifest: groups of tensors that lie one behind the other in the files of the group.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "core/base/half.hpp"
#include "core/base/text.hpp"
#include "core/convert/tfjs/reader/parts.hpp"
#include "core/model/external_data.hpp"

namespace driftscope::convert::tfjs {
namespace {

using nlohmann::json;

struct Spec {
  std::string name;
  Shape shape;
  DType dtype = DType::float32;
  DType stored = DType::float32;  // uint8, uint16 or float16 for quantized ones
  double scale = 1.0;
  double min = 0.0;
};

Result<std::string> text_member(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end() || !found->is_string()) return bad_input(fmt::format("no text \"{}\"", key));
  return found->get<std::string>();
}

Status read_quantization(const json& quantization, Spec& spec) {
  DRIFTSCOPE_TRY(const std::string type, text_member(quantization, "dtype"));
  if (type == "float16" && spec.dtype == DType::float32) {
    spec.stored = DType::float16;
    return {};
  }
  if ((type != "uint8" && type != "uint16") || spec.dtype == DType::boolean)
    return unsupported(fmt::format("quantized as {}; expected uint8, uint16 or float16", in_quotes(type)));
  spec.stored = type == "uint8" ? DType::uint8 : DType::uint16;
  const auto scale = quantization.find("scale");
  const auto min = quantization.find("min");
  if (scale == quantization.end() || !scale->is_number() || min == quantization.end() || !min->is_number())
    return bad_input("quantized without the numbers \"scale\" and \"min\"");
  spec.scale = scale->get<double>();
  spec.min = min->get<double>();
  return {};
}

Result<Spec> spec_of(const json& entry) {
  Spec spec;
  DRIFTSCOPE_TRY(spec.name, text_member(entry, "name"));
  DRIFTSCOPE_TRY(const std::string type, text_member(entry, "dtype"));
  const auto fail = [&](Error error) {
    return in_context(std::move(error), "weight " + in_quotes(spec.name));
  };
  if (type == "float32")
    spec.dtype = DType::float32;
  else if (type == "int32")
    spec.dtype = DType::int32;
  else if (type == "bool")
    spec.dtype = DType::boolean;
  else
    return fail(unsupported(fmt::format("of the type {}; expected float32, int32 or bool", in_quotes(type))));
  spec.stored = spec.dtype;
  const auto shape = entry.find("shape");
  if (shape == entry.end() || !shape->is_array() || shape->size() > max_rank)
    return fail(bad_input(fmt::format("no \"shape\" of at most {} axes", max_rank)));
  for (const json& one : *shape) {
    const auto size = integer_in(one);
    if (!size || *size < 0) return fail(bad_input("a shape with a size that is not a non-negative number"));
    spec.shape.push_back(*size);
  }
  if (const auto quantization = entry.find("quantization");
      quantization != entry.end() && !quantization->is_null())
    if (auto status = read_quantization(*quantization, spec); !status.ok())
      return fail(std::move(status).error());
  return spec;
}

double stored_number(DType dtype, std::span<const std::byte> bytes, std::size_t i) {
  if (dtype == DType::uint8) return static_cast<double>(std::to_integer<unsigned>(bytes[i]));
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes.data() + 2 * i, 2);
  return dtype == DType::uint16 ? static_cast<double>(bits) : widen(float16_format, bits);
}

Result<Tensor> tensor_of(const Spec& spec, std::span<const std::byte> bytes) {
  if (spec.stored == spec.dtype) return Tensor::from_bytes(spec.dtype, spec.shape, bytes, spec.name);
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::unwritten(spec.dtype, spec.shape, spec.name));
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double real = stored_number(spec.stored, bytes, at) * spec.scale + spec.min;
    if (spec.dtype == DType::float32) {
      tensor.mutable_values<float>()[at] = static_cast<float>(real);
    } else {
      constexpr double max = 2147483647.0;
      tensor.mutable_values<std::int32_t>()[at] = static_cast<std::int32_t>(
          std::isnan(real) ? 0.0 : std::fmin(std::fmax(std::round(real), -max), max));
    }
  }
  return tensor;
}

Result<std::vector<std::byte>> group_bytes(const json& group, const WeightFiles& files) {
  const auto paths = group.find("paths");
  if (paths == group.end() || !paths->is_array()) return bad_input("a group without the list \"paths\"");
  std::vector<std::byte> bytes;
  for (const json& path : *paths) {
    if (!path.is_string()) return bad_input("a path that is not a string");
    DRIFTSCOPE_CHECK(check_external_location(path.get_ref<const std::string&>()));
    auto part = files(path.get<std::string>());
    if (!part.ok()) return in_context(std::move(part).error(), "weights");
    if (part->size() > static_cast<std::size_t>(max_tensor_bytes) - bytes.size())
      return limit_error("the weights are too large");
    bytes.insert(bytes.end(), part->begin(), part->end());
  }
  return bytes;
}

}  // namespace

Result<std::map<std::string, Tensor, std::less<>>> read_weights(const json& manifest,
                                                                const WeightFiles& files) {
  std::map<std::string, Tensor, std::less<>> weights;
  if (!manifest.is_array()) return bad_input("weightsManifest is not a list");
  for (const json& group : manifest) {
    const auto entries = group.is_object() ? group.find("weights") : group.end();
    if (entries == group.end() || !entries->is_array())
      return bad_input("a group of weightsManifest without \"weights\"");
    std::vector<std::byte> bytes;
    {
      DRIFTSCOPE_TRY(bytes, group_bytes(group, files));
    }
    std::size_t used = 0;
    for (const json& entry : *entries) {
      DRIFTSCOPE_TRY(const Spec spec, spec_of(entry));
      DRIFTSCOPE_TRY(const std::int64_t size, tensor_byte_size(spec.stored, spec.shape, spec.name));
      if (static_cast<std::uint64_t>(size) > bytes.size() - used)
        return bad_input(fmt::format("weight {}: {} bytes are needed at {}, the files of its group have {}",
                                     in_quotes(spec.name), size, used, bytes.size()));
      DRIFTSCOPE_TRY(Tensor tensor,
                     tensor_of(spec, std::span(bytes).subspan(used, static_cast<std::size_t>(size))));
      used += static_cast<std::size_t>(size);
      if (!weights.emplace(spec.name, std::move(tensor)).second)
        return bad_input(fmt::format("weight {} occurs twice", in_quotes(spec.name)));
    }
  }
  return weights;
}

}  // namespace driftscope::convert::tfjs
