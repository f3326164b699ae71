// com.microsoft GatherBlockQuantized: slices of data along gather_axis, as Gather takes them, then (q − zero
// point) · scale, one of each for a block of block_size along quantize_axis. data: int4 or uint4 with a zero
// point of 0 if none is given, or uint8 that holds numbers of 2, 4 or 8 bits (low bits first, along the last
// axis) with 2^(bits − 1).
//
// Strict definition (float): the difference is exact, one product. An index beyond the axis is an error here;
// newer versions of ONNX Runtime give zeros.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <optional>

#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/domains.hpp"
#include "core/ops/shared/packed_bits.hpp"
#include "core/ops/shared/real_elements.hpp"

namespace driftscope::ops::gather_block_quantized {

constexpr std::array<std::string_view, 4> names = {"data", "indices", "scales", "zero_points"};

struct Options {
  std::size_t gather = 0, quantized = 0;
  std::int64_t block = 128, bits = 4;

  /// Numbers in a byte of uint8 data; 1 for other types.
  [[nodiscard]] std::int64_t per_byte(DType dtype) const { return dtype == DType::uint8 ? 8 / bits : 1; }
};

Result<Options> read_options(const Node& node, std::size_t rank) {
  Options options;
  DRIFTSCOPE_TRY(options.block, int_attribute(node, "block_size", 128));
  DRIFTSCOPE_TRY(options.bits, int_attribute(node, "bits", 4));
  DRIFTSCOPE_TRY(const std::int64_t gather, int_attribute(node, "gather_axis", 0));
  DRIFTSCOPE_TRY(const std::int64_t quantized, int_attribute(node, "quantize_axis", 1));
  if (options.block < 16 || (options.block & (options.block - 1)) != 0)
    return bad_input(
        fmt::format("attribute block_size: expected a power of 2 of at least 16, got {}", options.block));
  if (options.bits != 2 && options.bits != 4 && options.bits != 8)
    return bad_input(fmt::format("attribute bits: expected 2, 4 or 8, got {}", options.bits));
  auto axis = normalize_axis(gather, rank);
  if (!axis.ok()) return in_context(std::move(axis).error(), "attribute gather_axis");
  options.gather = *axis;
  axis = normalize_axis(quantized, rank);
  if (!axis.ok()) return in_context(std::move(axis).error(), "attribute quantize_axis");
  options.quantized = *axis;
  return options;
}

// The shape of the numbers that data holds.
SymbolicShape unpacked(const SymbolicShape& data, std::int64_t per_byte) {
  SymbolicShape shape = data;
  if (shape.back().known() && per_byte > 1)
    shape.back() = shape.back().size < (std::int64_t{1} << 40) ? known_dimension(shape.back().size * per_byte)
                                                               : Dimension{};
  return shape;
}

Dimension divided(const Dimension& size, std::int64_t by) {
  return size.known() ? known_dimension(size.size / by + (size.size % by != 0 ? 1 : 0)) : Dimension{};
}

Status check_scales_of(const InferContext& context, const Options& options, const SymbolicShape& numbers) {
  SymbolicShape scales = numbers;
  scales[options.quantized] = divided(scales[options.quantized], options.block);
  DRIFTSCOPE_CHECK(expect_shape(context, 2, names[2], scales));
  SymbolicShape zeros = scales;
  zeros.back() = divided(zeros.back(), options.per_byte(context.input(0).dtype));
  return expect_shape(context, 3, names[3], zeros);
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_dtype(context, 0, names[0], {DType::int4, DType::uint4, DType::uint8}));
  DRIFTSCOPE_CHECK(expect_dtype(context, 1, names[1], {DType::int32, DType::int64}));
  DRIFTSCOPE_CHECK(expect_kind(context, 2, names[2], Kinds::floating));
  if (context.has_input(3) && context.input(0).dtype != DType::undefined)
    DRIFTSCOPE_CHECK(expect_dtype(context, 3, names[3], {context.input(0).dtype}));
  TensorType y{context.input(2).dtype, std::nullopt};
  if (const auto& data = context.input(0).shape) {
    if (data->empty()) return bad_input("input 0 (data): expected at least one axis, got a scalar");
    DRIFTSCOPE_TRY(const Options options, read_options(context.node(), data->size()));
    const std::int64_t per_byte = options.per_byte(context.input(0).dtype);
    if (per_byte > 1 && options.gather == data->size() - 1)
      return bad_input("attribute gather_axis: packed data cannot be taken along its last axis");
    const SymbolicShape numbers = unpacked(*data, per_byte);
    DRIFTSCOPE_CHECK(check_scales_of(context, options, numbers));
    if (const auto& indices = context.input(1).shape) {
      SymbolicShape shape(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(options.gather));
      shape.insert(shape.end(), indices->begin(), indices->end());
      shape.insert(shape.end(), numbers.begin() + static_cast<std::ptrdiff_t>(options.gather) + 1,
                   numbers.end());
      y.shape = std::move(shape);
    }
  }
  return std::vector{std::move(y)};
}

/// The integers that a tensor of this shape stores, read one by one: an embedding has many more than are
/// taken.
class Numbers {
 public:
  /// `row`: numbers of the last axis; of uint8 with fewer bits each row begins at a byte.
  Numbers(const Tensor& tensor, const Options& options, std::int64_t row)
      : bytes_(tensor.bytes()),
        packed_({reinterpret_cast<const std::uint8_t*>(bytes_.data()), bytes_.size()},
                bits_of(tensor, options)),
        is_signed_(tensor.dtype() == DType::int4),
        row_(tensor.dtype() == DType::uint8 ? row : 0),
        row_bytes_(tensor.shape().empty() ? 1 : tensor.shape().back()) {}

  [[nodiscard]] std::int32_t at(std::int64_t i) const {
    if (row_ > 0) return packed_.at(i / row_ * row_bytes_, i % row_);
    const std::int32_t number = packed_.at(0, i);
    return is_signed_ && number > 7 ? number - 16 : number;
  }

 private:
  static std::int64_t bits_of(const Tensor& tensor, const Options& options) {
    return tensor.dtype() == DType::uint8 ? options.bits : 4;
  }

  std::span<const std::byte> bytes_;
  PackedBits packed_;
  bool is_signed_;
  std::int64_t row_;
  std::int64_t row_bytes_;
};

struct GatherBlockQuantized {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Tensor& data = context.tensor(0);
    DRIFTSCOPE_TRY(const Options options, read_options(context.node(), data.rank()));
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    Shape shape = data.shape();
    shape.back() *= options.per_byte(data.dtype());
    const Shape& scale_shape = context.shape(2);
    const RealElements<S> scales(context, 2);
    const Numbers numbers(data, options, shape.back());
    const std::int32_t middle = data.dtype() == DType::uint8 ? 1 << (options.bits - 1) : 0;
    std::optional<Numbers> zeros;
    if (context.has_input(3)) zeros.emplace(context.tensor(3), options, scale_shape.back());
    DRIFTSCOPE_TRY(const std::vector<std::int64_t> rows,
                   indices_of(context.tensor(1), shape[options.gather]));
    const std::int64_t inner = element_count(std::span(shape).subspan(options.gather + 1));
    const Shape strides = block_strides(scale_shape);
    std::int64_t to = 0;
    const auto count = static_cast<std::int64_t>(rows.size());
    for (std::int64_t outer = 0; outer < static_cast<std::int64_t>(y.size()) / (count * inner); ++outer)
      for (const std::int64_t row : rows)
        for (std::int64_t i = 0; i < inner; ++i, ++to) {
          const std::int64_t from = (outer * shape[options.gather] + row) * inner + i;
          std::int64_t index = from;
          std::int64_t scale = 0;
          for (std::size_t axis = shape.size(); axis-- > 0;) {
            const std::int64_t coordinate = index % shape[axis];
            index /= shape[axis];
            scale += (axis == options.quantized ? coordinate / options.block : coordinate) * strides[axis];
          }
          const std::int32_t zero = zeros ? zeros->at(scale) : middle;
          y[static_cast<std::size_t>(to)] = math::exact<S>(static_cast<double>(numbers.at(from) - zero)) *
                                            scales[static_cast<std::size_t>(scale)];
        }
    return {};
  }

 private:
  static Shape block_strides(const Shape& shape) {
    Shape strides(shape.size());
    std::int64_t stride = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      strides[axis] = stride;
      stride *= shape[axis];
    }
    return strides;
  }

  static Result<std::vector<std::int64_t>> indices_of(const Tensor& tensor, std::int64_t size) {
    std::vector<std::int64_t> rows;
    const auto read = [&](auto values) {
      for (const auto value : values) rows.push_back(static_cast<std::int64_t>(value));
    };
    if (tensor.dtype() == DType::int32)
      read(tensor.values<std::int32_t>());
    else
      read(tensor.values<std::int64_t>());
    for (std::int64_t& row : rows) {
      if (row < -size || row >= size)
        return bad_input(fmt::format("input 1 (indices): {} is not in [-{}, {})", row, size, size));
      if (row < 0) row += size;
    }
    return rows;
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<GatherBlockQuantized>({.op_type = "GatherBlockQuantized",
                                                .domain = microsoft_domain,
                                                .inputs = {3, 4},
                                                .outputs = {1, 1},
                                                .infer = infer}));
}

}  // namespace driftscope::ops::gather_block_quantized
