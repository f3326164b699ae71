// ai.onnx.ml SVMRegressor and SVMClassifier, opset 1 to 5. With support vectors: sums of coefficients times a
// kernel of the row and each vector (LINEAR x·v, POLY (γx·v + c)^d, SIGMOID tanh(γx·v + c), RBF
// e^(−γ|x − v|²)); without: x·coefficients. For each pair of classes i < j such a sum, ρ added, votes for i
// if it is positive, else for j; the label is that of most votes. With prob_a and prob_b the scores are
// probabilities (Wu, Lin and Weng 2004, "Probability estimates for multi-class classification by pairwise
// coupling", algorithm 2).
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/ops/ml/shared/ml_attributes.hpp"

namespace driftscope::ops::support_vectors {

struct Machine {
  char kernel = 'L';
  float gamma = 0.0F;
  float offset = 0.0F;
  float degree = 0.0F;
  std::span<const float> vectors;  // [count, features]
  std::span<const float> coefficients;
  std::span<const float> rho;
  std::int64_t count = 0;  // of support vectors; 0: a linear model
  std::int64_t features = 0;
  // Of a regressor.
  bool one_class = false;
  // Of a classifier.
  ml::Labels labels;
  std::vector<std::int64_t> begins;  // of the vectors of each class, and the end
  std::span<const float> prob_a;
  std::span<const float> prob_b;
  ml::Transform transform = ml::Transform::none;

  [[nodiscard]] std::int64_t classes() const { return static_cast<std::int64_t>(labels.count); }
  [[nodiscard]] std::int64_t pairs() const { return classes() * (classes() - 1) / 2; }
  [[nodiscard]] std::int64_t width() const {
    if (labels.count == 0) return 1;
    if (count == 0 || !prob_a.empty() || classes() == 2) return classes();
    return pairs();
  }
};

Status read_kernel(const Node& node, Machine& machine) {
  DRIFTSCOPE_TRY(const std::string kernel, string_attribute(node, "kernel_type", "LINEAR"));
  if (kernel != "LINEAR" && kernel != "POLY" && kernel != "RBF" && kernel != "SIGMOID")
    return bad_input(fmt::format("attribute kernel_type: expected LINEAR, POLY, RBF or SIGMOID, got {}",
                                 in_quotes(kernel)));
  machine.kernel = machine.count == 0 ? 'L' : kernel[0];
  DRIFTSCOPE_TRY(const auto parameters, ml::list_attribute<float>(node, "kernel_params"));
  if (parameters.empty()) return {};
  DRIFTSCOPE_CHECK(ml::expect_size("kernel_params", parameters.size(), 3, "gamma, coef0, degree"));
  machine.gamma = parameters[0];
  machine.offset = parameters[1];
  machine.degree = parameters[2];
  return {};
}

Status expect_at_least(std::string_view name, std::size_t got, std::int64_t expected, std::string_view why) {
  if (static_cast<std::int64_t>(got) >= expected) return {};
  return bad_input(fmt::format("attribute {}: expected {} values ({}), got {}", name, expected, why, got));
}

Status read_vectors(const Node& node, Machine& machine) {
  DRIFTSCOPE_TRY(machine.vectors, ml::list_attribute<float>(node, "support_vectors"));
  const auto size = static_cast<std::int64_t>(machine.vectors.size());
  if (machine.count == 0) return {};
  if (size == 0 || size % machine.count != 0)
    return bad_input(
        fmt::format("attribute support_vectors: expected a multiple of {} values (vectors), got {}",
                    machine.count, size));
  machine.features = size / machine.count;
  return {};
}

Status read_regressor(const Node& node, Machine& machine) {
  DRIFTSCOPE_TRY(machine.count, int_attribute(node, "n_supports", 0));
  if (machine.count < 0)
    return bad_input(fmt::format("attribute n_supports: expected at least 0, got {}", machine.count));
  DRIFTSCOPE_CHECK(read_vectors(node, machine));
  DRIFTSCOPE_TRY(machine.one_class, flag_attribute(node, "one_class", false));
  if (machine.count > 0)
    DRIFTSCOPE_CHECK(ml::expect_size("coefficients", machine.coefficients.size(),
                                     static_cast<std::size_t>(machine.count), "n_supports"));
  else
    machine.features = static_cast<std::int64_t>(machine.coefficients.size());
  if (machine.transform != ml::Transform::none)
    return unsupported("attribute post_transform: runtimes do not apply it to one target");
  return expect_at_least("rho", machine.rho.size(), 1, "one");
}

Status read_pairs(const Node& node, Machine& machine, std::span<const std::int64_t> sizes) {
  DRIFTSCOPE_CHECK(ml::expect_size("vectors_per_class", sizes.size(), machine.labels.count, "labels"));
  DRIFTSCOPE_CHECK(expect_at_least("rho", machine.rho.size(), machine.pairs(), "pairs of classes"));
  const std::int64_t rows = machine.classes() - 1;
  if (static_cast<std::int64_t>(machine.coefficients.size()) / machine.count < rows)
    return bad_input(
        fmt::format("attribute coefficients: expected {} rows of {} values (support vectors), got {} "
                    "values",
                    rows, machine.count, machine.coefficients.size()));
  DRIFTSCOPE_TRY(machine.prob_a, ml::list_attribute<float>(node, "prob_a"));
  DRIFTSCOPE_TRY(machine.prob_b, ml::list_attribute<float>(node, "prob_b"));
  DRIFTSCOPE_CHECK(ml::expect_size("prob_b", machine.prob_b.size(), machine.prob_a.size(), "as prob_a"));
  if (!machine.prob_a.empty())
    return expect_at_least("prob_a", machine.prob_a.size(), machine.pairs(), "pairs of classes");
  if (machine.classes() == 2 && machine.transform != ml::Transform::none)
    return unsupported("attribute post_transform: that of the one score of two classes is not defined");
  return {};
}

Status read_classifier(const Node& node, Machine& machine) {
  DRIFTSCOPE_TRY(machine.labels, ml::read_labels(node, "classlabels_ints", "classlabels_strings"));
  if (machine.classes() < 2 || machine.classes() > 65535)
    return unsupported(fmt::format("attribute classlabels_ints: {} classes", machine.classes()));
  DRIFTSCOPE_TRY(const auto sizes, ml::list_attribute<std::int64_t>(node, "vectors_per_class"));
  machine.begins.push_back(0);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > (std::int64_t{1} << 31))
      return bad_input(
          fmt::format("attribute vectors_per_class: value {} is {}, expected 0 to 2147483648", i, sizes[i]));
    machine.begins.push_back(machine.begins.back() + sizes[i]);
  }
  machine.count = machine.begins.back();
  DRIFTSCOPE_CHECK(read_vectors(node, machine));
  if (machine.count > 0) return read_pairs(node, machine, sizes);
  if (machine.classes() == 2)
    return unsupported("two classes without support vectors: their label is defined nowhere");
  const auto size = static_cast<std::int64_t>(machine.coefficients.size());
  if (size % machine.classes() != 0)
    return bad_input(fmt::format("attribute coefficients: expected a multiple of {} values (labels), got {}",
                                 machine.classes(), size));
  machine.features = size / machine.classes();
  return expect_at_least("rho", machine.rho.size(), 1, "one");
}

Result<Machine> read(const Node& node) {
  Machine machine;
  DRIFTSCOPE_TRY(machine.coefficients, ml::list_attribute<float>(node, "coefficients"));
  DRIFTSCOPE_TRY(machine.rho, ml::list_attribute<float>(node, "rho"));
  DRIFTSCOPE_TRY(machine.transform, ml::transform_attribute(node));
  if (machine.coefficients.empty())
    return bad_input("attribute coefficients: it is required, and missing or empty");
  DRIFTSCOPE_CHECK(node.op_type == "SVMRegressor" ? read_regressor(node, machine)
                                                  : read_classifier(node, machine));
  DRIFTSCOPE_CHECK(read_kernel(node, machine));
  return machine;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(ml::expect_rows(context));
  DRIFTSCOPE_TRY(const Machine machine, read(context.node()));
  DRIFTSCOPE_CHECK(ml::expect_features(ml::features_of(context), machine.features, "of each vector"));
  if (machine.labels.count > 0) return ml::classifier_types(context, machine.labels, machine.width());
  return std::vector{TensorType{DType::float32, SymbolicShape{ml::rows_of(context), known_dimension(1)}}};
}

template <class S>
class Row {
 public:
  Row(const Machine& machine, const ml::Numbers<S>& x, std::int64_t begin)
      : machine_(machine), x_(x), begin_(begin) {}

  S dot(std::span<const float> weights, S start) const {
    Sum<S> sum(start);
    for (std::int64_t i = 0; i < machine_.features; ++i)
      sum.add_product(x_[begin_ + i], math::given<S>(weights[static_cast<std::size_t>(i)]));
    return sum.result();
  }

  S kernel(std::int64_t vector) const {
    const auto features = static_cast<std::size_t>(machine_.features);
    const auto v = machine_.vectors.subspan(static_cast<std::size_t>(vector) * features, features);
    if (machine_.kernel == 'R') {
      Sum<S> sum;
      for (std::size_t i = 0; i < features; ++i) {
        const S apart = x_[begin_ + static_cast<std::int64_t>(i)] - math::given<S>(v[i]);
        sum.add_product(apart, apart);
      }
      return math::exp(-(sum.result() * math::given<S>(machine_.gamma)));
    }
    const S product = dot(v, S(0));
    if (machine_.kernel == 'L') return product;
    const S scaled = product * math::given<S>(machine_.gamma) + math::given<S>(machine_.offset);
    return machine_.kernel == 'S' ? math::tanh(scaled) : power(scaled);
  }

 private:
  // Runtimes multiply or call pow.
  S power(const S& x) const {
    const float degree = machine_.degree;
    if (!(degree >= 1.0F && degree <= 16.0F && degree == std::floor(degree)))
      return math::pow(x, math::given<S>(degree));
    S result = x;
    for (int i = 1; i < static_cast<int>(degree); ++i) result = result * x;
    if constexpr (std::is_same_v<S, Bounded>) result = math::round_more(result, 4);
    return result;
  }

  const Machine& machine_;
  const ml::Numbers<S>& x_;
  std::int64_t begin_;
};

/// Pairwise coupling: p of all classes from r[i][j], the probability of i against j.
template <class S>
class Coupling {
 public:
  Coupling(const std::vector<S>& r, std::size_t classes) : k_(classes), q_(classes * classes, S(0)) {
    for (std::size_t i = 0; i < k_; ++i)
      for (std::size_t j = 0; j < k_; ++j) {
        if (j == i) continue;
        q_[at(i, i)] = q_[at(i, i)] + r[at(j, i)] * r[at(j, i)];
        q_[at(i, j)] = -(r[at(j, i)] * r[at(i, j)]);
      }
  }

  /// Largest |Q·p − pᵀ·Q·p|; both are kept for the sweep.
  S look(std::span<const S> p) {
    qp_.assign(k_, S(0));
    pqp_ = S(0);
    for (std::size_t i = 0; i < k_; ++i) {
      for (std::size_t j = 0; j < k_; ++j) qp_[i] = qp_[i] + q_[at(i, j)] * p[j];
      pqp_ = pqp_ + p[i] * qp_[i];
    }
    S largest = S(0);  // NaN is never larger, as in runtimes
    for (std::size_t i = 0; i < k_; ++i) {
      const S apart = math::abs(qp_[i] - pqp_);
      if constexpr (std::is_same_v<S, Bounded>) {
        const double room = std::fmax(largest.worst, apart.worst);
        largest = {std::fmax(largest.value, apart.value), room, room};
      } else if (apart > largest) {
        largest = apart;
      }
    }
    return largest;
  }
  void sweep(std::span<S> p) {
    for (std::size_t i = 0; i < k_; ++i) {
      const S diff = (pqp_ - qp_[i]) / q_[at(i, i)];
      const S scale = S(1) + diff;
      p[i] = p[i] + diff;
      pqp_ = (pqp_ + diff * (diff * q_[at(i, i)] + S(2) * qp_[i])) / scale / scale;
      for (std::size_t j = 0; j < k_; ++j) {
        qp_[j] = (qp_[j] + diff * q_[at(i, j)]) / scale;
        p[j] = p[j] / scale;
      }
    }
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t i, std::size_t j) const { return i * k_ + j; }
  std::size_t k_;
  std::vector<S> q_, qp_;
  S pqp_ = S(0);
};

constexpr int most_sweeps = 100;

double coupling_limit(std::size_t classes) { return 0.005 / static_cast<double>(classes); }

template <class S>
void couple(const std::vector<S>& r, std::span<S> p) {
  Coupling<S> coupling(r, p.size());
  std::fill(p.begin(), p.end(), math::rounded_constant<S>(1.0 / static_cast<double>(p.size())));
  for (int i = 0; i < most_sweeps && !(math::to_double(coupling.look(p)) < coupling_limit(p.size())); ++i)
    coupling.sweep(p);
}

/// How an error of p before a sweep arrives after it: |∂p'ᵢ/∂pⱼ|, [k, k], by differences in double.
std::vector<double> sweep_slopes(Coupling<double> coupling, std::span<const double> p) {
  constexpr double step = 0x1p-20;
  const std::size_t k = p.size();
  std::vector<double> slopes(k * k);
  const auto swept = [&](std::size_t j, double by) {
    std::vector<double> moved(p.begin(), p.end());
    moved[j] += by;
    (void)coupling.look(moved);
    coupling.sweep(moved);
    return moved;
  };
  for (std::size_t j = 0; j < k; ++j) {
    const std::vector<double> up = swept(j, step);
    const std::vector<double> down = swept(j, -step);
    for (std::size_t i = 0; i < k; ++i) slopes[i * k + j] = std::fabs(up[i] - down[i]) / (2.0 * step);
  }
  return slopes;
}

// Interval arithmetic would grow fourteenfold with each sweep, though a sweep makes errors of p smaller. So
// the errors of one sweep from an exact p are added to those from before, which are carried over by its
// slopes. Where rounding decides whether the iteration ends, every p at which it may end is within the bound.
template <>
void couple<Bounded>(const std::vector<Bounded>& r, std::span<Bounded> p) {
  constexpr std::size_t most_classes = 64;  // slopes take time of the cube
  const std::size_t k = p.size();
  const double limit = coupling_limit(k);
  const double unbounded = std::numeric_limits<double>::infinity();
  std::vector<double> exact_r(r.size());
  std::transform(r.begin(), r.end(), exact_r.begin(), [](const Bounded& x) { return x.value; });
  const Coupling<double> exact(exact_r, k);
  Coupling<Bounded> coupling(r, k);
  std::fill(p.begin(), p.end(), math::rounded_constant<Bounded>(1.0 / static_cast<double>(k)));
  std::vector<Bounded> result;               // where it ends without errors
  std::vector<std::vector<Bounded>> others;  // where it may end with them
  for (int loop = 0;; ++loop) {
    const Bounded largest = coupling.look(p);
    const bool last = loop == most_sweeps;
    const bool ends = last || largest.value < limit;
    const bool open = !last && largest.worst > 0.0 && !(std::fabs(largest.value - limit) > largest.worst);
    if (ends && result.empty())
      result.assign(p.begin(), p.end());
    else if (ends || open)
      others.emplace_back(p.begin(), p.end());
    if (ends && !open) break;
    std::vector<double> values(k);
    std::transform(p.begin(), p.end(), values.begin(), [](const Bounded& x) { return x.value; });
    std::vector<Bounded> swept(values.begin(), values.end());
    (void)coupling.look(swept);
    coupling.sweep(swept);
    const std::vector<double> slopes =
        k <= most_classes ? sweep_slopes(exact, values) : std::vector<double>();
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < k; ++j) {
        const double slope = slopes.empty() ? unbounded : slopes[i * k + j];
        if (p[j].worst > 0.0) swept[i].worst += slope * p[j].worst;
        if (p[j].likely > 0.0) swept[i].likely += slope * p[j].likely;
      }
    for (std::size_t i = 0; i < k; ++i) p[i] = {swept[i].value, swept[i].worst, swept[i].likely};
  }
  for (std::size_t i = 0; i < k; ++i) {
    Bounded x = result[i];
    for (const std::vector<Bounded>& other : others) {
      const double apart = std::fabs(other[i].value - x.value);
      x.worst = std::fmax(x.worst, apart + other[i].worst);
      x.likely = std::fmax(x.likely, apart + other[i].likely);
    }
    p[i] = {x.value, std::fmin(x.worst, 1.0), std::fmin(x.likely, 1.0)};  // probabilities
  }
}

template <class S>
struct Scored {
  std::vector<S> scores;
  std::size_t best = 0;
  std::vector<std::size_t> rivals;
};

template <class S>
void vote(const Machine& machine, const std::vector<S>& pairs, Scored<S>& scored) {
  const auto classes = static_cast<std::size_t>(machine.classes());
  std::vector<int> sure(classes, 0);
  std::vector<int> open(classes, 0);
  std::vector<int> votes(classes, 0);
  std::size_t at = 0;
  for (std::size_t i = 0; i < classes; ++i)
    for (std::size_t j = i + 1; j < classes; ++j, ++at) {
      const std::size_t winner = math::to_double(pairs[at]) > 0.0 ? i : j;
      ++votes[winner];
      bool certain = true;
      if constexpr (std::is_same_v<S, Bounded>)
        certain = pairs[at].worst == 0.0 || std::fabs(pairs[at].value) > pairs[at].worst;
      if (certain)
        ++sure[winner];
      else
        ++open[i], ++open[j];
    }
  const auto most = std::max_element(votes.begin(), votes.end());
  scored.best = static_cast<std::size_t>(most - votes.begin());
  for (std::size_t i = 0; i < classes; ++i)
    if (i != scored.best && open[i] + open[scored.best] > 0 && sure[i] + open[i] >= sure[scored.best])
      scored.rivals.push_back(i);
}

template <class S>
std::vector<S> probabilities(const Machine& machine, const std::vector<S>& pairs) {
  const auto classes = static_cast<std::size_t>(machine.classes());
  std::vector<S> r(classes * classes, S(0));
  std::size_t at = 0;
  for (std::size_t i = 0; i < classes; ++i)
    for (std::size_t j = i + 1; j < classes; ++j, ++at) {
      std::array<S, 1> one = {pairs[at] * math::given<S>(machine.prob_a[at]) +
                              math::given<S>(machine.prob_b[at])};
      ml::apply_transform<S>(ml::Transform::logistic, one);
      const S low = math::rounded_constant<S>(1e-7);
      const S value = math::min(math::max(S(1) - one[0], low), S(1) - low);
      r[i * classes + j] = value;
      r[j * classes + i] = S(1) - value;
    }
  std::vector<S> p(classes);
  couple<S>(r, p);
  return p;
}

template <class S>
void classify(const Machine& machine, const Row<S>& row, Scored<S>& scored) {
  const auto classes = static_cast<std::size_t>(machine.classes());
  scored.scores.clear();
  scored.rivals.clear();
  if (machine.count == 0) {
    const auto features = static_cast<std::size_t>(machine.features);
    for (std::size_t i = 0; i < classes; ++i)
      scored.scores.push_back(
          row.dot(machine.coefficients.subspan(i * features, features), math::given<S>(machine.rho[0])));
    scored.best = ml::largest_score<S>(scored.scores, &scored.rivals);
    return ml::apply_transform<S>(machine.transform, scored.scores);
  }
  std::vector<S> kernels;
  for (std::int64_t v = 0; v < machine.count; ++v) kernels.push_back(row.kernel(v));
  std::vector<S> pairs;
  for (std::size_t i = 0; i < classes; ++i)
    for (std::size_t j = i + 1; j < classes; ++j) {
      Sum<S> sum;
      const auto add = [&](std::size_t own, std::size_t line) {
        for (std::int64_t v = machine.begins[own]; v < machine.begins[own + 1]; ++v) {
          const auto at = static_cast<std::size_t>(v);
          sum.add_product(
              math::given<S>(machine.coefficients[line * static_cast<std::size_t>(machine.count) + at]),
              kernels[at]);
        }
      };
      add(i, j - 1);
      add(j, i);
      sum.add(math::given<S>(machine.rho[pairs.size()]));
      pairs.push_back(sum.result());
    }
  vote(machine, pairs, scored);
  if (!machine.prob_a.empty())
    scored.scores = probabilities(machine, pairs);
  else if (classes == 2)
    scored.scores = {-pairs[0], pairs[0]};
  else
    scored.scores = std::move(pairs);
  ml::apply_transform<S>(machine.transform, scored.scores);
}

template <class S>
S regress(const Machine& machine, const Row<S>& row) {
  const S rho = math::given<S>(machine.rho[0]);
  S y = rho;
  if (machine.count == 0) {
    y = row.dot(machine.coefficients, rho);
  } else {
    Sum<S> sum;
    for (std::int64_t v = 0; v < machine.count; ++v)
      sum.add_product(math::given<S>(machine.coefficients[static_cast<std::size_t>(v)]), row.kernel(v));
    sum.add(rho);
    y = sum.result();
  }
  if (!machine.one_class) return y;
  return math::split_at(y, S(0), [](const S&) { return S(-1.0F); }, [](const S&) { return S(1.0F); });
}

struct Kernel {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Machine machine, read(context.node()));
    const ml::Rows rows = ml::rows_of(context.shape(0));
    const bool classes = machine.labels.count > 0;
    DRIFTSCOPE_TRY(const ml::Outputs<S> outputs, ml::outputs_of(context, classes));
    const std::span<S> y = outputs.scores;
    const ml::Numbers<S> x(context, 0);
    const auto work = static_cast<std::int64_t>(machine.coefficients.size() + machine.vectors.size());
    context.parallel_for(
        rows.count, std::max<std::int64_t>(1, 16384 / work), [&](std::int64_t begin, std::int64_t end) {
          Scored<S> scored;
          for (std::int64_t i = begin; i < end; ++i) {
            const Row<S> row(machine, x, i * rows.features);
            if (!classes) {
              y[static_cast<std::size_t>(i)] = regress(machine, row);
              continue;
            }
            classify(machine, row, scored);
            if (!y.empty())
              std::copy(scored.scores.begin(), scored.scores.end(), y.begin() + i * machine.width());
            outputs.set_label(machine.labels, i, scored.best, scored.rivals);
          }
        });
    return {};
  }
};

void add_to(OperatorTable& table) {
  for (const std::string_view op_type : {"SVMRegressor", "SVMClassifier"}) {
    const int outputs = op_type == "SVMClassifier" ? 2 : 1;
    table.add(with_kernels<Kernel>({.op_type = op_type,
                                    .domain = ml::domain,
                                    .inputs = {1, 1},
                                    .outputs = {outputs, outputs},
                                    .infer = infer}));
  }
}

}  // namespace driftscope::ops::support_vectors
