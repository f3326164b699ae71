#include "core/hunt/input_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/hunt/draws.hpp"
#include "core/hunt/fill.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/verify/top1.hpp"

namespace driftscope::hunt {
namespace {

constexpr std::size_t most_parents = 256;

/// States of a value: orders of magnitude lie around 0, the others beyond them.
enum State : int {
  has_zero = 10000,
  has_subnormal,
  has_infinity,
  has_nan,
  smallest = 20000,
  answers = 30000
};

int order_of(double magnitude) { return static_cast<int>(std::floor(std::log2(magnitude) / 4.0)); }

void add_states(const NamedTensor& value, NumericStates& states) {
  double largest_magnitude = 0.0, smallest_magnitude = std::numeric_limits<double>::infinity();
  const auto add = [&](int state) { states.emplace(value.name, state); };
  with_numbers(value.tensor, [&](const auto& at) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(value.tensor.elements()); ++i) {
      const double magnitude = std::abs(at(i));
      if (std::isnan(magnitude))
        add(has_nan);
      else if (std::isinf(magnitude))
        add(has_infinity);
      else if (magnitude == 0.0)
        add(has_zero);
      else if (magnitude < double{std::numeric_limits<float>::min()})
        add(has_subnormal);
      else {
        largest_magnitude = std::max(largest_magnitude, magnitude);
        smallest_magnitude = std::min(smallest_magnitude, magnitude);
      }
    }
  });
  if (largest_magnitude == 0.0) return;
  add(order_of(largest_magnitude));
  add(smallest + order_of(smallest_magnitude));
  constexpr std::int64_t most_classes = 1000;
  if (class_count(value.tensor.shape()) > most_classes) return;
  if (const auto best = top1(value.tensor); best && best->size() == 1)
    add(answers + static_cast<int>(best->front()));
}

/// A box of the tensor, as places in C order.
std::vector<std::size_t> drawn_block(Rng& rng, const Shape& shape) {
  Shape first = shape, sizes = shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    sizes[axis] = between(rng, 1, shape[axis]);
    first[axis] = between(rng, 0, shape[axis] - sizes[axis]);
  }
  std::vector<std::size_t> places = {0};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<std::size_t> next;
    for (const std::size_t place : places)
      for (std::int64_t i = 0; i < sizes[axis]; ++i)
        next.push_back(place * static_cast<std::size_t>(shape[axis]) +
                       static_cast<std::size_t>(first[axis] + i));
    places = std::move(next);
  }
  return places;
}

}  // namespace

NumericStates states_of(const Trace& trace) {
  NumericStates states;
  for (const NamedTensor& value : trace.tensors)
    if (is_floating(value.tensor.dtype())) add_states(value, states);
  return states;
}

InputSearch::InputSearch(NamedInputs first, std::uint64_t seed) : rng_(seed), parents_{std::move(first)} {}

SearchedInput InputSearch::next() {
  if (made_++ == 0) return {parents_.front(), "the input as it was given"};
  SearchedInput input{one_of(rng_, parents_), ""};
  const std::int64_t changes = happens(rng_, 3) ? between(rng_, 2, 4) : 1;
  for (std::int64_t i = 0; i < changes; ++i)
    input.text += (input.text.empty() ? "" : ", ") + change(input.tensors);
  return input;
}

void InputSearch::take(const SearchedInput& input, const NumericStates& states) {
  const std::size_t before = covered_.size();
  covered_.insert(states.begin(), states.end());
  if (made_ > 1 && covered_.size() > before && parents_.size() < most_parents)
    parents_.push_back(input.tensors);
}

std::string InputSearch::change(NamedInputs& tensors) {
  NamedTensor& chosen = tensors[rng_.below(tensors.size())];
  Tensor changed = chosen.tensor;
  // A copy of its own: tensors share their bytes.
  auto own = Tensor::from_bytes(changed.dtype(), changed.shape(), changed.bytes());
  if (!own.ok() || changed.elements() == 0) return "nothing in " + chosen.name;
  changed = *std::move(own);
  const auto count = static_cast<std::uint64_t>(changed.elements());
  std::string text;
  const auto each = [&](const auto& number) {
    with_numbers(chosen.tensor, [&](const auto& at) {
      for (std::size_t i = 0; i < count; ++i) store_number(changed, i, number(at(i)));
    });
  };
  if (!is_floating(changed.dtype())) {
    const std::size_t a = rng_.below(count), b = rng_.below(count);
    const double moved = number_at(chosen.tensor, a), other = number_at(chosen.tensor, b);
    store_number(changed, a, other);
    store_number(changed, b, moved);
    text = "two places exchanged";
  } else {
    switch (rng_.below(6)) {
      case 0: {
        const int exponent = static_cast<int>(between(rng_, -12, 12));
        each([&](double x) { return std::ldexp(x, exponent); });
        text = fmt::format("× 2^{}", exponent);
        break;
      }
      case 1: {
        const double step = std::ldexp(1.0, static_cast<int>(between(rng_, -8, 0)));
        each([&](double x) { return std::nearbyint(x / step) * step; });
        text = fmt::format("multiples of {}", step);
        break;
      }
      case 2: {
        const double move = one_of(rng_, {1.0, 10.0, 1000.0, -1000.0});
        each([&](double x) { return x + move; });
        text = fmt::format("+ {}", move);
        break;
      }
      case 3: {
        const Fill& fill = draw_fill(rng_);
        const auto next = fill.make(Rng(rng_.next()));
        for (const std::size_t place : drawn_block(rng_, changed.shape()))
          store_number(changed, place, next());
        text = fmt::format("block of {}", fill.name);
        break;
      }
      case 4: {
        const Fill& fill = draw_fill(rng_);
        const auto next = fill.make(Rng(rng_.next()));
        each([&](double) { return next(); });
        text = fmt::format("all of {}", fill.name);
        break;
      }
      default: {
        const float size = rng_.uniform(0.001f, 0.5f);
        Rng noise(rng_.next());
        each([&](double x) { return x + double{size} * double{noise.normal()}; });
        text = fmt::format("noise of {:.3f}", size);
        break;
      }
    }
  }
  chosen.tensor = std::move(changed);
  return text + " in " + chosen.name;
}

}  // namespace driftscope::hunt
