// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/partial_sums.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <vector>

#include "core/convert/place_tensor.hpp"
#include "core/graph/attributes.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/verify/product_sample.hpp"
#include "core/verify/product_terms.hpp"

namespace driftscope {
namespace {

/// One sum, term after term.
class RunningSum {
 public:
  void add(double term) {
    sum_ += term;
    (term > 0.0 ? positive_ : negative_) += term;
    largest_ = std::fmax(largest_, std::fabs(sum_));
  }
  void end(PartialSums& all) const {
    all.largest = std::fmax(all.largest, largest_);
    all.any_order = std::fmax(all.any_order, std::fmax(positive_, -negative_));
    ++all.sums;
  }

 private:
  double sum_ = 0.0;
  double positive_ = 0.0;
  double negative_ = 0.0;
  double largest_ = 0.0;
};

void join(PartialSums& all, const PartialSums& part) {
  all.largest = std::fmax(all.largest, part.largest);
  all.any_order = std::fmax(all.any_order, part.any_order);
  all.sums += part.sums;
}

/// Adds one sum to `part`.
using SumOne = std::function<void(std::int64_t sum, PartialSums& part)>;

PartialSums all_sums(std::span<const std::int64_t> places, std::int64_t of_all, ThreadPool& threads,
                     const SumOne& one) {
  PartialSums all{.of_all = of_all};
  std::mutex mutex;
  constexpr std::int64_t grain = 16;
  threads.parallel_for(std::ssize(places), grain, [&](std::int64_t begin, std::int64_t end) {
    PartialSums part;
    for (std::int64_t i = begin; i < end; ++i) one(places[static_cast<std::size_t>(i)], part);
    const std::lock_guard lock(mutex);
    join(all, part);
  });
  return all;
}

PartialSums sums_of_products(const SumsOfProducts& sums, std::int64_t elements, std::int64_t products,
                             ThreadPool& threads) {
  constexpr std::int64_t most_products = 200'000'000;
  const std::int64_t most = std::max<std::int64_t>(1024, most_products / std::max<std::int64_t>(1, products));
  return all_sums(sampled_places(most, elements), elements, threads,
                  [&](std::int64_t element, PartialSums& part) {
                    ProductTerms terms;
                    sums.read(element, terms);
                    RunningSum sum;
                    for (std::size_t k = 0; k < terms.a.size(); ++k)
                      sum.add(static_cast<double>(terms.a[k]) * static_cast<double>(terms.b[k]));
                    sum.add(terms.start);
                    sum.end(part);
                  });
}

/// What a reduction adds up.
enum class Terms { values, squares, deviations };  // of the mean

struct Reduction {
  std::vector<bool> axes;  ///< which are summed over
  Terms terms = Terms::values;
};

std::optional<std::vector<bool>> listed_axes(const Node& node, std::span<const Tensor* const> inputs,
                                             std::size_t rank) {
  std::vector<std::int64_t> axes;
  if (const Attribute* const attribute = node.attribute("axes"))
    if (const auto* const list = std::get_if<std::vector<std::int64_t>>(&attribute->value)) axes = *list;
  if (inputs.size() > 1 && inputs[1] != nullptr) {
    if (inputs[1]->dtype() != DType::int64) return std::nullopt;
    const auto given = inputs[1]->values<std::int64_t>();
    axes.assign(given.begin(), given.end());
  }
  std::vector<bool> summed(rank, axes.empty());
  for (const std::int64_t axis : axes) {
    const std::int64_t at = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
    if (at < 0 || at >= static_cast<std::int64_t>(rank)) return std::nullopt;
    summed[static_cast<std::size_t>(at)] = true;
  }
  return summed;
}

std::vector<bool> axes_from(std::size_t first, std::size_t rank) {
  std::vector<bool> summed(rank, false);
  std::fill(summed.begin() + static_cast<std::ptrdiff_t>(std::min(first, rank)), summed.end(), true);
  return summed;
}

std::optional<Reduction> reduction_of(const Node& node, std::span<const Tensor* const> inputs) {
  const std::size_t rank = inputs[0]->shape().size();
  const std::string& op = node.op_type;
  const bool squares = op == "ReduceSumSquare" || op == "ReduceL2";
  if (squares || op == "ReduceSum" || op == "ReduceMean") {
    auto axes = listed_axes(node, inputs, rank);
    if (!axes) return std::nullopt;
    return Reduction{*std::move(axes), squares ? Terms::squares : Terms::values};
  }
  if (op == "GlobalAveragePool") return Reduction{axes_from(2, rank), Terms::values};
  if (op == "InstanceNormalization") return Reduction{axes_from(2, rank), Terms::deviations};
  const bool root_mean_square = op == "RMSNormalization" || op == "SimplifiedLayerNormalization";
  if (op != "LayerNormalization" && !root_mean_square) return std::nullopt;
  const auto axis = int_attribute(node, "axis", -1);
  if (!axis.ok()) return std::nullopt;
  const std::int64_t first = *axis < 0 ? *axis + static_cast<std::int64_t>(rank) : *axis;
  if (first < 0) return std::nullopt;
  return Reduction{axes_from(static_cast<std::size_t>(first), rank),
                   root_mean_square ? Terms::squares : Terms::deviations};
}

/// Offsets of the elements along the axes for which `wanted` is `value`, row by row.
std::vector<std::int64_t> offsets_along(const Shape& shape, const std::vector<bool>& axes, bool value) {
  std::vector<std::int64_t> offsets = {0};
  std::int64_t stride = element_count(shape);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    stride = shape[axis] == 0 ? 0 : stride / shape[axis];
    if (axes[axis] != value) continue;
    std::vector<std::int64_t> next;
    next.reserve(offsets.size() * static_cast<std::size_t>(shape[axis]));
    for (const std::int64_t offset : offsets)
      for (std::int64_t i = 0; i < shape[axis]; ++i) next.push_back(offset + i * stride);
    offsets = std::move(next);
  }
  return offsets;
}

PartialSums sums_of_reduction(const Tensor& x, const Reduction& reduction, ThreadPool& threads) {
  const std::vector<double> values = numbers_of(x);
  const std::vector<std::int64_t> begins = offsets_along(x.shape(), reduction.axes, false);
  const std::vector<std::int64_t> steps = offsets_along(x.shape(), reduction.axes, true);
  const auto value = [&](std::int64_t offset) { return values[static_cast<std::size_t>(offset)]; };
  return all_sums(begins, std::ssize(begins), threads, [&](std::int64_t begin, PartialSums& part) {
    RunningSum sum;
    double mean = 0.0;
    for (const std::int64_t step : steps) {
      const double term = value(begin + step);
      mean += term / static_cast<double>(steps.size());
      sum.add(reduction.terms == Terms::squares ? term * term : term);
    }
    sum.end(part);
    if (reduction.terms != Terms::deviations) return;
    RunningSum squares;
    for (const std::int64_t step : steps) {
      const double deviation = value(begin + step) - mean;
      squares.add(deviation * deviation);
    }
    squares.end(part);
    --part.sums;  // of the same element
  });
}

}  // namespace

std::optional<PartialSums> partial_sums(const Node& node, std::span<const Tensor* const> inputs,
                                        const Shape& y, ThreadPool& threads) {
  if (inputs.empty() || inputs[0] == nullptr || !is_floating(inputs[0]->dtype()) ||
      inputs[0]->elements() == 0)
    return std::nullopt;
  if (const auto reduction = reduction_of(node, inputs))
    return sums_of_reduction(*inputs[0], *reduction, threads);
  if (inputs.size() < 2 || inputs[1] == nullptr) return std::nullopt;
  std::vector<Tensor> wide(inputs.size());
  std::vector<const Tensor*> read(inputs.size(), nullptr);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    auto tensor = convert::with_dtype(*inputs[i], DType::float32);
    if (!tensor.ok()) return std::nullopt;
    wide[i] = *std::move(tensor);
    read[i] = &wide[i];
  }
  const auto sums = SumsOfProducts::of(node, read, y);
  if (!sums) return std::nullopt;
  return sums_of_products(*sums, element_count(y), products_per_element(node, wide[1].shape()), threads);
}

}  // namespace driftscope
