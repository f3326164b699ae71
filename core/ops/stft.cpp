// STFT, opset 17 to 21: the Fourier transform of overlapping frames of a signal, each times a
// window. The frame length is that of the window or frame_length. Onesided (the default): the first
// half of the bins.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "core/graph/attributes.hpp"
#include "core/ops/shared/fourier.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::stft {

struct Frames {
  std::int64_t step = 1;
  std::int64_t length = 1;
  std::int64_t count = 0;
  std::int64_t bins = 0;
};

Result<std::int64_t> one_integer(const Tensor& tensor, std::size_t index, std::string_view name) {
  DRIFTSCOPE_TRY(const Ints list, integers_of(tensor, input_label(index, name)));
  if (list.size() != 1 || list[0] < 1)
    return bad_input(fmt::format("{}: expected one number of at least 1, got [{}]", input_label(index, name),
                                 fmt::join(list, ",")));
  return list[0];
}

Result<Frames> place(const Node& node, std::int64_t signal, const Tensor& step,
                     std::optional<std::int64_t> window, const Tensor* length) {
  Frames frames;
  DRIFTSCOPE_TRY(frames.step, one_integer(step, 1, "frame_step"));
  if (length != nullptr) {
    DRIFTSCOPE_TRY(frames.length, one_integer(*length, 3, "frame_length"));
    if (window && *window != frames.length)
      return bad_input(
          fmt::format("input 2 (window): expected {} elements as frame_length says, got "
                      "{}",
                      frames.length, *window));
  } else if (window && *window > 0) {
    frames.length = *window;
  } else {
    return bad_input("neither a window nor frame_length is given");
  }
  if (frames.length > signal)
    return bad_input(fmt::format("a frame of {} is longer than the signal of {}", frames.length, signal));
  frames.count = (signal - frames.length) / frames.step + 1;
  DRIFTSCOPE_TRY(const bool onesided, flag_attribute(node, "onesided", true));
  frames.bins = onesided ? frames.length / 2 + 1 : frames.length;
  return frames;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "signal", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_kind(context, 2, "window", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "signal", 2, 3));
  DRIFTSCOPE_CHECK(expect_rank(context, 2, "window", 1, 1));
  TensorType y{context.input(0).dtype, unknown_shape(4)};
  (*y.shape)[3] = known_dimension(2);
  const auto& signal = context.input(0).shape;
  if (signal) {
    (*y.shape)[0] = (*signal)[0];
    if (signal->size() == 3 && signal->back().known() && signal->back().size != 1 && signal->back().size != 2)
      return bad_input(fmt::format("input 0 (signal): expected 1 or 2 on the last axis, got shape {}",
                                   shape_text(*signal)));
  }
  std::optional<std::int64_t> window;
  bool known = signal && (*signal)[1].known() && context.constant(1) != nullptr;
  if (context.has_input(2)) {
    const auto shape = concrete_shape(context.input(2).shape);
    known = known && shape;
    if (shape) window = (*shape)[0];
  }
  const Tensor* length = context.has_input(3) ? context.constant(3) : nullptr;
  if (!known || (context.has_input(3) && length == nullptr)) return std::vector{std::move(y)};
  DRIFTSCOPE_TRY(const Frames frames,
                 place(context.node(), (*signal)[1].size, *context.constant(1), window, length));
  (*y.shape)[1] = known_dimension(frames.count);
  (*y.shape)[2] = known_dimension(frames.bins);
  return std::vector{std::move(y)};
}

struct Stft {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& signal = context.shape(0);
    std::optional<std::int64_t> window;
    if (context.has_input(2)) window = context.shape(2)[0];
    DRIFTSCOPE_TRY(const Frames frames, place(context.node(), signal[1], context.tensor(1), window,
                                              context.has_input(3) ? &context.tensor(3) : nullptr));
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    const auto products = checked_product(Shape{signal[0], frames.count, frames.bins, frames.length});
    if (!products || *products > max_fourier_products)
      return limit_error(fmt::format("{} frames of length {} need more than {} products", frames.count,
                                     frames.length, max_fourier_products));
    const std::int64_t parts = signal.size() == 3 ? signal[2] : 1;
    const Fourier<S> fourier(frames.length, false);
    const std::span<const S> x = context.real(0);
    context.parallel_for(signal[0] * frames.count, 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<S> re(static_cast<std::size_t>(frames.length));
      std::vector<S> im(parts == 2 ? re.size() : 0);
      for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t first = item / frames.count * signal[1] + item % frames.count * frames.step;
        for (std::size_t j = 0; j < re.size(); ++j) {
          const auto from = (static_cast<std::size_t>(first) + j) * static_cast<std::size_t>(parts);
          re[j] = x[from];
          if (parts == 2) im[j] = x[from + 1];
          if (!window) continue;
          re[j] = re[j] * context.real(2)[j];
          if (parts == 2) im[j] = im[j] * context.real(2)[j];
        }
        for (std::int64_t k = 0; k < frames.bins; ++k) {
          const auto to = static_cast<std::size_t>((item * frames.bins + k) * 2);
          fourier.bin(k, re, im, y[to], y[to + 1]);
        }
      }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Stft>(
      {.op_type = "STFT", .since = 17, .inputs = {2, 4}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::stft
