// LSTM, GRU and RNN on simd/gemm: W·x for all steps and all sequences at once, then R·h step by
// step into the same accumulators, which start at the biases (core/ops/shared/gate_sums.hpp).
// Activations by simd/elementwise.
#include <algorithm>
#include <cmath>

#include "core/engines/strict/kernel_table.hpp"
#include "core/engines/strict/matrix_product.hpp"
#include "core/engines/strict/simd/elementwise.hpp"
#include "core/graph/attributes.hpp"
#include "core/ops/shared/recurrent.hpp"

namespace driftscope::strict::recurrent {

// Beyond this the products of all steps are not stored together; the scalar kernel needs no such
// memory.
constexpr std::int64_t max_kept_bytes = std::int64_t{1} << 30;

enum class Cell { rnn, gru, lstm };

const RecurrentKind& kind_of(Cell cell) {
  static const RecurrentKind rnn{1, false, {"Tanh"}};
  static const RecurrentKind gru{3, false, {"Sigmoid", "Tanh"}};
  static const RecurrentKind lstm{4, true, {"Sigmoid", "Tanh", "Tanh"}};
  return cell == Cell::rnn ? rnn : cell == Cell::gru ? gru : lstm;
}

// One direction of one run.
struct Direction {
  PackedColumns w;
  PackedColumns r;            // all gates; for GRU z and r
  PackedColumns r_candidate;  // GRU
};

class RecurrentKernel final : public StrictKernel {
 public:
  RecurrentKernel(const StrictSite& site, Cell cell, const RecurrentAttributes& attributes,
                  const RecurrentLayout& layout, bool variant)
      : site_(site),
        cell_(cell),
        attributes_(attributes),
        layout_(layout),
        variant_(variant),
        gemm_(gemm_kernels(site.simd)),
        simd_(elementwise_kernels(site.simd)),
        hidden_(layout.hidden),
        columns_(kind_of(cell).gates * layout.hidden) {
    const Tensor* w = site.constant(recurrent_input::w);
    const Tensor* r = site.constant(recurrent_input::r);
    if (w != nullptr && r != nullptr)
      pack(*w, *r);
    else
      directions_.resize(static_cast<std::size_t>(layout.directions));
  }

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    using namespace recurrent_input;
    const auto given = [&](std::size_t i) { return i < inputs.size() ? inputs[i] : nullptr; };
    DRIFTSCOPE_TRY(lengths_, sequence_lengths(given(sequence_lens), layout_));
    if (site_.constant(w) == nullptr || site_.constant(r) == nullptr) pack(*inputs[w], *inputs[r]);
    b_ = given(b) == nullptr ? nullptr : given(b)->values<float>().data();
    p_ = given(p) == nullptr ? nullptr : given(p)->values<float>().data();

    std::vector<Tensor> outputs(site_.node.outputs.size());
    std::array<float*, 3> out{};
    const Shape y_shape = layout_.batch_first
                              ? Shape{layout_.batch, layout_.steps, layout_.directions, hidden_}
                              : Shape{layout_.steps, layout_.directions, layout_.batch, hidden_};
    const Shape state_shape = layout_.batch_first ? Shape{layout_.batch, layout_.directions, hidden_}
                                                  : Shape{layout_.directions, layout_.batch, hidden_};
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (site_.node.outputs[i] == no_value) continue;
      DRIFTSCOPE_TRY(outputs[i], Tensor::make(DType::float32, i == 0 ? y_shape : state_shape, "output"));
      out[i] = outputs[i].mutable_values<float>().data();
    }
    const PackedRows x_rows(gemm_,
                            {.data = inputs[x]->values<float>().data(),
                             .rows = layout_.steps * layout_.batch,
                             .columns = layout_.inputs,
                             .row_step = layout_.inputs},
                            site_.threads);
    for (std::int64_t d = 0; d < layout_.directions; ++d) {
      state_.assign(static_cast<std::size_t>(layout_.batch * hidden_), 0.0f);
      cell_state_ = state_;
      load_state(given(initial_h), d, state_);
      if (cell_ == Cell::lstm) load_state(given(initial_c), d, cell_state_);
      walk(d, x_rows, out[0]);
      store_state(state_, d, out[1]);
      if (cell_ == Cell::lstm) store_state(cell_state_, d, out[2]);
    }
    return outputs;
  }

 private:
  void pack(const Tensor& w, const Tensor& r) {
    directions_.clear();
    // Rows of the weights are columns of the products.
    const auto columns = [&](const Tensor& weights, std::int64_t d, std::int64_t depth, std::int64_t first,
                             std::int64_t count) {
      return PackedColumns(gemm_,
                           {.data = weights.values<float>().data() + (d * columns_ + first) * depth,
                            .rows = depth,
                            .columns = count,
                            .row_step = 1,
                            .column_step = depth},
                           site_.threads);
    };
    for (std::int64_t d = 0; d < layout_.directions; ++d) {
      Direction packed;
      packed.w = columns(w, d, layout_.inputs, 0, columns_);
      packed.r = columns(r, d, hidden_, 0, cell_ == Cell::gru ? 2 * hidden_ : columns_);
      if (cell_ == Cell::gru) packed.r_candidate = columns(r, d, hidden_, 2 * hidden_, hidden_);
      directions_.push_back(std::move(packed));
    }
  }

  void load_state(const Tensor* from, std::int64_t d, std::vector<float>& to) const {
    if (from == nullptr) return;
    for (std::int64_t n = 0; n < layout_.batch; ++n)
      std::copy_n(from->values<float>().data() + layout_.state_row(d, n), hidden_, to.data() + n * hidden_);
  }
  void store_state(const std::vector<float>& from, std::int64_t d, float* to) const {
    if (to == nullptr) return;
    for (std::int64_t n = 0; n < layout_.batch; ++n)
      std::copy_n(from.data() + n * hidden_, hidden_, to + layout_.state_row(d, n));
  }

  // The biases of all gates, W's and R's added where the scalar kernel adds them.
  std::vector<float> start(std::int64_t d) const {
    std::vector<float> values(static_cast<std::size_t>(columns_), 0.0f);
    if (b_ == nullptr) return values;
    const float* w_bias = b_ + d * 2 * columns_;
    const float* r_bias = w_bias + columns_;
    const std::int64_t apart = cell_ == Cell::gru && variant_ ? 2 * hidden_ : columns_;
    for (std::int64_t j = 0; j < columns_; ++j)
      values[static_cast<std::size_t>(j)] = j < apart ? w_bias[j] + r_bias[j] : w_bias[j];
    return values;
  }

  void walk(std::int64_t d, const PackedRows& x_rows, float* y) {
    const Direction& weights = directions_[static_cast<std::size_t>(d)];
    const std::vector<float> first = start(d);
    std::vector<float> all(static_cast<std::size_t>(x_rows.rows() * columns_));
    for (std::int64_t row = 0; row < x_rows.rows(); ++row)
      std::copy(first.begin(), first.end(), all.begin() + row * columns_);
    accumulate_product(gemm_, x_rows, weights.w, all.data(), columns_, site_.threads);

    gates_.resize(static_cast<std::size_t>(layout_.batch * columns_));
    spare_.resize(static_cast<std::size_t>(layout_.batch * hidden_));
    linear_.resize(spare_.size());
    const std::int64_t longest = lengths_.empty() ? 0 : *std::max_element(lengths_.begin(), lengths_.end());
    const auto time = [&](std::int64_t step, std::int64_t n) {
      return attributes_.reversed(d) ? lengths_[static_cast<std::size_t>(n)] - 1 - step : step;
    };
    for (std::int64_t step = 0; step < longest; ++step) {
      for (std::int64_t n = 0; n < layout_.batch; ++n)
        if (active(step, n))
          std::copy_n(all.data() + layout_.x_row(time(step, n), n) /
                                       std::max<std::int64_t>(1, layout_.inputs) * columns_,
                      columns_, gates_.data() + n * columns_);
      add_products(weights, d, step);
      site_.threads.parallel_for(layout_.batch, std::max<std::int64_t>(1, 2048 / columns_),
                                 [&](std::int64_t begin, std::int64_t end) {
                                   for (std::int64_t n = begin; n < end; ++n) {
                                     if (!active(step, n)) continue;
                                     finish(d, n);
                                     if (y != nullptr)
                                       std::copy_n(state_.data() + n * hidden_, hidden_,
                                                   y + layout_.y_row(time(step, n), d, n));
                                   }
                                 });
    }
  }

  [[nodiscard]] bool active(std::int64_t step, std::int64_t n) const {
    return step < lengths_[static_cast<std::size_t>(n)];
  }

  // R·h, for all sequences; results of those that have ended are ignored.
  void add_products(const Direction& weights, std::int64_t d, std::int64_t step) {
    const PackedRows h = rows_of(state_);
    accumulate_product(gemm_, h, weights.r, gates_.data(), columns_, site_.threads);
    if (cell_ != Cell::gru) return;
    if (variant_) {
      for (std::int64_t n = 0; n < layout_.batch; ++n)
        for (std::int64_t j = 0; j < hidden_; ++j)
          linear_[static_cast<std::size_t>(n * hidden_ + j)] =
              b_ == nullptr ? 0.0f : b_[d * 2 * columns_ + columns_ + 2 * hidden_ + j];
      accumulate_product(gemm_, h, weights.r_candidate, linear_.data(), hidden_, site_.threads);
      return;
    }
    for (std::int64_t n = 0; n < layout_.batch; ++n) {
      if (!active(step, n)) continue;
      float* reset = gates_.data() + n * columns_ + hidden_;
      float* product = spare_.data() + n * hidden_;
      std::copy_n(reset, hidden_, product);
      activate_all(d, 0, product, hidden_);
      simd_.mul(product, state_.data() + n * hidden_, product, size(hidden_));
    }
    accumulate_product(gemm_, rows_of(spare_), weights.r_candidate, gates_.data() + 2 * hidden_, columns_,
                       site_.threads);
  }

  [[nodiscard]] PackedRows rows_of(const std::vector<float>& values) const {
    return {gemm_,
            {.data = values.data(), .rows = layout_.batch, .columns = hidden_, .row_step = hidden_},
            site_.threads};
  }
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

  void activate_all(std::int64_t d, std::size_t which, float* values, std::int64_t count) const {
    if (attributes_.clip) simd_.clip(values, -*attributes_.clip, *attributes_.clip, values, size(count));
    const Activation& f = attributes_.activation(d, which);
    if (f.kind == Activation::Kind::tanh) return simd_.tanh(values, values, size(count));
    if (f.kind == Activation::Kind::sigmoid) return simd_.sigmoid(values, values, size(count));
    for (std::int64_t j = 0; j < count; ++j) values[j] = activate(f, values[j]);
  }

  // The activations of one sequence, from its gate sums to its new state.
  void finish(std::int64_t d, std::int64_t n) {
    float* gates = gates_.data() + n * columns_;
    float* h = state_.data() + n * hidden_;
    if (cell_ == Cell::lstm) return finish_lstm(d, gates, h, cell_state_.data() + n * hidden_);
    if (cell_ == Cell::rnn) {
      std::copy_n(gates, hidden_, h);
      return activate_all(d, 0, h, hidden_);
    }
    float* candidate = gates + 2 * hidden_;
    if (variant_) {
      activate_all(d, 0, gates, 2 * hidden_);
      const float* reset = gates + hidden_;
      const float* linear = linear_.data() + n * hidden_;
      for (std::int64_t j = 0; j < hidden_; ++j) candidate[j] = candidate[j] + reset[j] * linear[j];
    } else {
      activate_all(d, 0, gates, hidden_);
    }
    activate_all(d, 1, candidate, hidden_);
    for (std::int64_t j = 0; j < hidden_; ++j) h[j] = (1.0f - gates[j]) * candidate[j] + gates[j] * h[j];
  }

  void finish_lstm(std::int64_t d, float* gates, float* h, float* c) const {
    float* input = gates;
    float* output = gates + hidden_;
    float* forget = gates + 2 * hidden_;
    float* candidate = gates + 3 * hidden_;
    const auto add_peephole = [&](float* sums, std::int64_t number) {
      if (p_ == nullptr) return;
      const float* peephole = p_ + (d * 3 + number) * hidden_;
      for (std::int64_t j = 0; j < hidden_; ++j) sums[j] = sums[j] + peephole[j] * c[j];
    };
    add_peephole(input, 0);
    activate_all(d, 0, input, hidden_);
    if (variant_) {
      for (std::int64_t j = 0; j < hidden_; ++j) forget[j] = 1.0f - input[j];
    } else {
      add_peephole(forget, 2);
      activate_all(d, 0, forget, hidden_);
    }
    activate_all(d, 1, candidate, hidden_);
    for (std::int64_t j = 0; j < hidden_; ++j) c[j] = forget[j] * c[j] + input[j] * candidate[j];
    add_peephole(output, 1);
    activate_all(d, 0, output, hidden_);
    std::copy_n(c, hidden_, h);
    activate_all(d, 2, h, hidden_);
    simd_.mul(output, h, h, size(hidden_));
  }

  StrictSite site_;
  Cell cell_;
  RecurrentAttributes attributes_;
  RecurrentLayout layout_;
  bool variant_;
  GemmKernels gemm_;
  ElementwiseKernels simd_;
  std::int64_t hidden_;
  std::int64_t columns_;  // gates · hidden
  std::vector<Direction> directions_;
  std::vector<std::int64_t> lengths_;
  const float* b_ = nullptr;
  const float* p_ = nullptr;
  std::vector<float> state_;       // h of every sequence
  std::vector<float> cell_state_;  // c
  std::vector<float> gates_;       // the sums of one step
  std::vector<float> spare_;       // r⊙h
  std::vector<float> linear_;      // Rb + R·h of the candidate
};

bool is_float32(const StrictSite& site, std::size_t input) {
  return site.dtype(input) == DType::float32 && site.shape(input).has_value();
}

std::unique_ptr<StrictKernel> prepare(const StrictSite& site, Cell cell) {
  using namespace recurrent_input;
  for (std::size_t i = 0; i < site.node.inputs.size(); ++i)
    if (i != sequence_lens && site.has_input(i) && !is_float32(site, i)) return nullptr;
  const auto attributes = read_recurrent(site.node, kind_of(cell));
  if (!attributes.ok()) return nullptr;
  bool variant = false;
  if (cell == Cell::lstm) {
    const auto coupled = flag_attribute(site.node, "input_forget", false);
    if (!coupled.ok()) return nullptr;
    variant = *coupled;
  } else if (cell == Cell::gru) {
    const auto linear = int_attribute(site.node, "linear_before_reset", 0);
    if (!linear.ok()) return nullptr;
    variant = *linear != 0;
  }
  const RecurrentLayout layout(*attributes, *site.shape(x), *site.shape(r));
  const std::int64_t columns = kind_of(cell).gates * layout.hidden;
  if (layout.steps == 0 || layout.batch == 0 || layout.hidden == 0 || layout.inputs == 0 ||
      layout.steps * layout.batch > max_kept_bytes / 4 / columns)
    return nullptr;
  return std::make_unique<RecurrentKernel>(site, cell, *attributes, layout, variant);
}

void add_to(StrictKernelTable& table) {
  table.add("LSTM", [](const StrictSite& site) { return prepare(site, Cell::lstm); });
  table.add("GRU", [](const StrictSite& site) { return prepare(site, Cell::gru); });
  table.add("RNN", [](const StrictSite& site) { return prepare(site, Cell::rnn); });
}

}  // namespace driftscope::strict::recurrent
