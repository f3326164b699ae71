// Where, opset 9 to 21: X where the condition holds, else Y; all three broadcast. Moves bits.
#include <array>
#include <cstring>
#include <type_traits>

#include "core/ops/shared/elementwise.hpp"

namespace driftscope::ops::where {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  constexpr std::array<std::string_view, 3> names = {"condition", "X", "Y"};
  DRIFTSCOPE_CHECK(expect_kind(context, 0, names[0], Kinds::boolean));
  for (std::size_t i = 1; i < 3; ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::numeric_or_bool));
  const DType x = context.input(1).dtype;
  const DType y = context.input(2).dtype;
  if (x != DType::undefined && y != DType::undefined && x != y)
    return bad_input(input_label(2, "Y") + ": expected " + std::string(dtype_name(x)) +
                     " as input 1 (X) has, got " + std::string(dtype_name(y)));
  return broadcast_type(context, x == DType::undefined ? y : x);
}

namespace {

/// Where the operands lie; elements are bits.
struct Operands {
  const std::uint8_t* condition = nullptr;
  const std::byte* x = nullptr;
  const std::byte* y = nullptr;
  std::byte* out = nullptr;
};

template <class Word>
Word word_at(const std::byte* data, std::int64_t i) {
  Word word;
  std::memcpy(&word, data + i * static_cast<std::int64_t>(sizeof(Word)), sizeof(Word));
  return word;
}

template <class Word>
void put_word(std::byte* data, std::int64_t i, Word word) {
  std::memcpy(data + i * static_cast<std::int64_t>(sizeof(Word)), &word, sizeof(Word));
}

/// Where a row has its own x or y for each element, or one for all. Both are read whatever the condition
/// is: so there is no branch, and compilers choose in vectors.
template <class Word, bool x_moves, bool y_moves>
void blend(const Operands& row, std::int64_t columns) {
  const auto [condition, x, y, out] = row;
  const Word x_first = word_at<Word>(x, 0);
  const Word y_first = word_at<Word>(y, 0);
  for (std::int64_t i = 0; i < columns; ++i) {
    const Word a = x_moves ? word_at<Word>(x, i) : x_first;
    const Word b = y_moves ? word_at<Word>(y, i) : y_first;
    put_word(out, i, condition[i] != 0 ? a : b);
  }
}

/// A row that has one condition.
template <class Word>
void take_one(const Operands& row, std::int64_t x_step, std::int64_t y_step, std::int64_t columns) {
  const bool is_x = *row.condition != 0;
  const std::byte* const source = is_x ? row.x : row.y;
  if ((is_x ? x_step : y_step) != 0) {
    std::memcpy(row.out, source, static_cast<std::size_t>(columns) * sizeof(Word));
    return;
  }
  const auto word = word_at<Word>(source, 0);
  for (std::int64_t i = 0; i < columns; ++i) put_word(row.out, i, word);
}

template <class Word>
void choose_row(const Operands& all, const BroadcastRow& row) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Word));
  const Operands here = {all.condition + row.offsets[0], all.x + row.offsets[1] * size,
                         all.y + row.offsets[2] * size, all.out + row.output * size};
  const std::int64_t x_step = row.steps[1];
  const std::int64_t y_step = row.steps[2];
  if (row.steps[0] == 0) return take_one<Word>(here, x_step, y_step, row.columns);
  if constexpr (size == 4) {  // float32: what models spend time on; each loop more is code that pages fetch
    if (x_step != 0 && y_step != 0) return blend<Word, true, true>(here, row.columns);
    if (x_step != 0) return blend<Word, true, false>(here, row.columns);
    if (y_step != 0) return blend<Word, false, true>(here, row.columns);
    return blend<Word, false, false>(here, row.columns);
  }
  for (std::int64_t i = 0; i < row.columns; ++i) {
    const auto a = word_at<Word>(here.x, i * x_step);
    const auto b = word_at<Word>(here.y, i * y_step);
    put_word(here.out, i, here.condition[i] != 0 ? a : b);
  }
}

void choose(const KernelThreads& threads, const Shape& out, std::span<const Shape> shapes, std::size_t size,
            const Operands& all) {
  const auto rows_of = [&]<class Word>(Word) {
    for_broadcast_rows(threads, out, shapes, [&](const BroadcastRow& row) { choose_row<Word>(all, row); });
  };
  switch (size) {
    case 1: return rows_of(std::uint8_t());
    case 2: return rows_of(std::uint16_t());
    case 4: return rows_of(std::uint32_t());
    default: return rows_of(std::uint64_t());
  }
}

}  // namespace

struct Where {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const auto condition = context.tensor(0).template values<std::uint8_t>();
    const auto choose_bits = [&](std::size_t size, std::span<const std::byte> x, std::span<const std::byte> y,
                                 std::span<std::byte> out) {
      if (out.empty()) return;
      const std::array<Shape, 3> shapes = {context.shape(0), context.shape(1), context.shape(2)};
      choose(context, context.output_shape(0), shapes, size,
             {condition.data(), x.data(), y.data(), out.data()});
    };
    if (is_floating(context.dtype(1))) {
      const std::span<const S> x = context.real(1);
      const std::span<const S> y = context.real(2);
      const std::span<S> out = context.real_output(0);
      if constexpr (std::is_same_v<S, Bounded>)
        map_broadcast_all(
            context, out, [](std::uint8_t c, const S& a, const S& b) { return c != 0 ? a : b; },
            Broadcasted<std::uint8_t>{context.shape(0), condition}, Broadcasted<S>{context.shape(1), x},
            Broadcasted<S>{context.shape(2), y});
      else
        choose_bits(sizeof(S), std::as_bytes(x), std::as_bytes(y), std::as_writable_bytes(out));
      return {};
    }
    context.with_integer_or_bool(context.dtype(1), [&]<class T>() {
      choose_bits(sizeof(T), context.tensor(1).bytes(), context.tensor(2).bytes(),
                  context.tensor_output(0).mutable_bytes());
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Where>({.op_type = "Where",
                                 .since = 9,
                                 .inputs = {3, 3},
                                 .outputs = {1, 1},
                                 .infer = infer,
                                 .exact_copy = true}));
}

}  // namespace driftscope::ops::where
