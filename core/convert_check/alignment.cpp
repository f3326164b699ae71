#include "core/convert_check/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/base/text.hpp"

namespace driftscope::convert {
namespace {

constexpr std::size_t max_gap_cells =
    4'000'000;                         // of a table of pairs; larger gaps are matched by values alone
constexpr double equal_values = 1e-4;  // relative distance that no other layer has by chance
constexpr double close_values = 0.05;
constexpr double misnamed_apart = 0.2;
constexpr std::size_t misnamed_reach = 3;

/// Operators that replace one another in conversions.
std::string_view kind_of(std::string_view op) {
  struct Kind {
    std::string_view op;
    std::string_view kind;
  };
  static constexpr Kind kinds[] = {
      {"Gemm", "product"},
      {"MatMul", "product"},
      {"QLinearMatMul", "product"},
      {"MatMulInteger", "product"},
      {"FullyConnected", "product"},
      {"QLinearConv", "Conv"},
      {"ConvInteger", "Conv"},
      {"Conv2D", "Conv"},
      {"DepthwiseConv2dNative", "Conv"},
      {"Flatten", "Reshape"},
      {"Squeeze", "Reshape"},
      {"Unsqueeze", "Reshape"},
      {"GlobalAveragePool", "mean"},
      {"ReduceMean", "mean"},
      {"Mean", "mean"},
      {"Relu6", "Clip"},
      {"Logistic", "Sigmoid"},
  };
  for (const Kind& kind : kinds)
    if (kind.op == op) return kind.kind;
  return op;
}

bool is_number(std::string_view name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

struct Partner {
  std::size_t b = 0;
  Order order;
  FoundBy by = FoundBy::name;
};

/// Pairs as they are found; places in the lists of both sides.
class Pairing {
 public:
  Pairing(const Side& a, const Side& b)
      : a_(a.values()), b_(b.values()), partners_(a_.size()), taken_(b_.size()), alone_(a_.size()) {}

  Status add_given(const Side& a, const Side& b, const ValueMap& map);
  void add_names();
  void add_outputs();
  void add_gaps();
  void add_leftovers();
  [[nodiscard]] Alignment take() const;

 private:
  void add(std::size_t i, std::size_t j, Order order, FoundBy by) {
    partners_[i] = Partner{j, std::move(order), by};
    taken_[j] = true;
  }
  [[nodiscard]] bool is_free(std::size_t i) const { return !partners_[i] && !alone_[i]; }
  [[nodiscard]] bool is_misnamed(std::size_t i, std::size_t j, double apart) const;
  void add_gap(std::span<const std::size_t> rows, std::span<const std::size_t> columns);
  [[nodiscard]] double score(std::size_t i, std::size_t j, Order& order, FoundBy& by) const;

  const std::vector<RecordedValue>& a_;
  const std::vector<RecordedValue>& b_;
  std::vector<std::optional<Partner>> partners_;
  std::vector<bool> taken_;  // b's, or known to have no partner
  std::vector<bool> alone_;  // a's that have no partner by the map
};

Status Pairing::add_given(const Side& a, const Side& b, const ValueMap& map) {
  const auto place = [](const Side& side, const std::string& name,
                        std::string_view which) -> Result<std::size_t> {
    const RecordedValue* const found = side.find(name);
    if (found == nullptr)
      return bad_input(
          fmt::format("the map names {} as a value of {}, which was not recorded there; --write-map writes a "
                      "map with the existing names",
                      in_quotes(name), which));
    return static_cast<std::size_t>(found - side.values().data());
  };
  for (const ValuePair& pair : map.pairs) {
    if (pair.a.empty() || pair.b.empty()) {
      if (!pair.a.empty()) {
        DRIFTSCOPE_TRY(const std::size_t i, place(a, pair.a, "A"));
        alone_[i] = true;
      } else {
        DRIFTSCOPE_TRY(const std::size_t j, place(b, pair.b, "B"));
        taken_[j] = true;
      }
      continue;
    }
    DRIFTSCOPE_TRY(const std::size_t i, place(a, pair.a, "A"));
    DRIFTSCOPE_TRY(const std::size_t j, place(b, pair.b, "B"));
    if (!is_free(i) || taken_[j])
      return bad_input(fmt::format("the map has {} or {} twice", in_quotes(pair.a), in_quotes(pair.b)));
    const Shape& shape = a_[i].tensor->shape();
    const Shape& other = b_[j].tensor->shape();
    const auto orders = orders_between(shape, other);
    if (std::ranges::find(orders, pair.order) == orders.end())
      return bad_input(
          fmt::format("the map pairs {} ({}) with {} ({}) in the order [{}], which does not make one "
                      "shape into the other",
                      in_quotes(pair.a), shape_text(shape), in_quotes(pair.b), shape_text(other),
                      fmt::join(pair.order, ", ")));
    add(i, j, pair.order, pair.by);
  }
  return {};
}

/// Where b's value is a later one of a: folding leaves the convolution's name to what the normalization made.
bool Pairing::is_misnamed(std::size_t i, std::size_t j, double apart) const {
  if (apart < misnamed_apart) return false;
  for (std::size_t later = i + 1; later < std::min(a_.size(), i + 1 + misnamed_reach); ++later) {
    Order order;
    if (is_free(later) && distance(*a_[later].tensor, *b_[j].tensor, order) < apart / 4.0) return true;
  }
  return false;
}

void Pairing::add_names() {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t j = 0; j < b_.size(); ++j) places.emplace(b_[j].name, j);
  for (std::size_t i = 0; i < a_.size(); ++i) {
    const auto found = places.find(a_[i].name);
    if (!is_free(i) || found == places.end() || taken_[found->second]) continue;
    const RecordedValue& other = b_[found->second];
    // Exporters renumber values, so a number alone says nothing.
    if (is_number(a_[i].name) && kind_of(a_[i].op) != kind_of(other.op)) continue;
    Order order;
    const double apart = distance(*a_[i].tensor, *other.tensor, order);
    if (std::isinf(apart) || is_misnamed(i, found->second, apart)) continue;
    add(i, found->second, std::move(order), FoundBy::name);
  }
}

void Pairing::add_outputs() {
  const auto next_output = [](const std::vector<RecordedValue>& values, std::size_t from) {
    while (from < values.size() && !values[from].output) ++from;
    return from;
  };
  std::size_t j = next_output(b_, 0);
  for (std::size_t i = next_output(a_, 0); i < a_.size() && j < b_.size();
       i = next_output(a_, i + 1), j = next_output(b_, j + 1)) {
    Order order;
    if (is_free(i) && !taken_[j] && !std::isinf(distance(*a_[i].tensor, *b_[j].tensor, order)))
      add(i, j, std::move(order), FoundBy::structure);
  }
}

/// How likely two values are the same; negative: they are not. Equal values are the strongest sign; without
/// them the operator decides, as everything after the first fault has drifted.
double Pairing::score(std::size_t i, std::size_t j, Order& order, FoundBy& by) const {
  if (a_[i].input != b_[j].input) return -1.0;
  const double apart = distance(*a_[i].tensor, *b_[j].tensor, order);
  if (std::isinf(apart)) return -1.0;
  const bool same_op = !a_[i].op.empty() && kind_of(a_[i].op) == kind_of(b_[j].op);
  const bool conclusive = a_[i].tensor->elements() >= 4;
  by = conclusive && apart < close_values ? FoundBy::values : FoundBy::structure;
  if (conclusive && apart < equal_values) return same_op ? 5.0 : 4.0;
  if (conclusive && apart < close_values) return same_op ? 4.0 : 3.0;
  if (same_op) return apart < 0.3 ? 3.0 : apart < 1.0 ? 2.0 : 1.5;
  by = FoundBy::values;
  return conclusive && apart < 0.3 ? 2.5 : -1.0;
}

/// The pairs in the order of both with the largest sum of scores (as the alignment of sequences by Needleman
/// and Wunsch 1970, without a penalty for gaps).
void Pairing::add_gap(std::span<const std::size_t> rows, std::span<const std::size_t> columns) {
  if (rows.empty() || columns.empty() || rows.size() > max_gap_cells / columns.size()) return;
  struct Cell {
    double score = -1.0;
    double best = 0.0;
    Order order;
    FoundBy by = FoundBy::structure;
  };
  const std::size_t width = columns.size() + 1;
  std::vector<Cell> cells((rows.size() + 1) * width);
  for (std::size_t i = rows.size(); i-- > 0;)
    for (std::size_t j = columns.size(); j-- > 0;) {
      Cell& cell = cells[i * width + j];
      cell.score = score(rows[i], columns[j], cell.order, cell.by);
      cell.best = std::max(cells[(i + 1) * width + j].best, cells[i * width + j + 1].best);
      if (cell.score > 0.0) cell.best = std::max(cell.best, cell.score + cells[(i + 1) * width + j + 1].best);
    }
  for (std::size_t i = 0, j = 0; i < rows.size() && j < columns.size();) {
    Cell& cell = cells[i * width + j];
    if (cell.score > 0.0 && cell.best == cell.score + cells[(i + 1) * width + j + 1].best) {
      add(rows[i++], columns[j++], std::move(cell.order), cell.by);
    } else if (cell.best == cells[(i + 1) * width + j].best) {
      ++i;
    } else {
      ++j;
    }
  }
}

void Pairing::add_gaps() {
  // Pairs that have the same order on both sides divide the lists: the longest increasing sequence of
  // partners.
  std::vector<std::size_t> best(a_.size(), 0);
  std::vector<std::size_t> before(a_.size(), a_.size());
  std::size_t last = a_.size();
  std::map<std::size_t, std::size_t> ends;  // by partner, the pair that ends the longest sequence with it
  for (std::size_t i = 0; i < a_.size(); ++i) {
    if (!partners_[i]) continue;
    const auto after = ends.lower_bound(partners_[i]->b);
    if (after != ends.begin()) before[i] = std::prev(after)->second;
    best[i] = before[i] == a_.size() ? 1 : best[before[i]] + 1;
    if (after != ends.end() && best[after->second] <= best[i]) ends.erase(after);
    ends[partners_[i]->b] = i;
  }
  for (std::size_t i = 0; i < a_.size(); ++i)
    if (partners_[i] && (last == a_.size() || best[i] > best[last])) last = i;
  std::vector<std::size_t> anchors;
  for (; last < a_.size(); last = before[last]) anchors.push_back(last);
  std::ranges::reverse(anchors);
  std::size_t i = 0;
  std::size_t j = 0;
  const auto gap_to = [&](std::size_t end_a, std::size_t end_b) {
    std::vector<std::size_t> rows;
    std::vector<std::size_t> columns;
    for (; i < end_a; ++i)
      if (is_free(i)) rows.push_back(i);
    for (; j < end_b; ++j)
      if (!taken_[j]) columns.push_back(j);
    add_gap(rows, columns);
  };
  for (const std::size_t anchor : anchors) gap_to(anchor, partners_[anchor]->b);
  gap_to(a_.size(), b_.size());
}

/// Branches may be in a different order: pairs a value with the only other one that equals it.
void Pairing::add_leftovers() {
  for (std::size_t i = 0; i < a_.size(); ++i) {
    if (!is_free(i) || a_[i].tensor->elements() < 4) continue;
    std::size_t fitting = 0;
    std::size_t place = 0;
    Order found;
    for (std::size_t j = 0; j < b_.size() && fitting < 2; ++j) {
      Order order;
      if (taken_[j] || distance(*a_[i].tensor, *b_[j].tensor, order) >= equal_values) continue;
      ++fitting;
      place = j;
      found = std::move(order);
    }
    if (fitting == 1) add(i, place, std::move(found), FoundBy::values);
  }
}

Alignment Pairing::take() const {
  Alignment made;
  std::vector<bool> paired(b_.size());
  for (std::size_t i = 0; i < a_.size(); ++i) {
    if (!partners_[i]) {
      made.only_a.push_back(a_[i].name);
      continue;
    }
    paired[partners_[i]->b] = true;
    made.pairs.push_back({a_[i].name, b_[partners_[i]->b].name, partners_[i]->order, partners_[i]->by});
  }
  for (std::size_t j = 0; j < b_.size(); ++j)
    if (!paired[j]) made.only_b.push_back(b_[j].name);
  return made;
}

}  // namespace

std::string_view found_by_name(FoundBy by) {
  switch (by) {
    case FoundBy::given: return "given";
    case FoundBy::name: return "name";
    case FoundBy::structure: return "structure";
    default: return "values";
  }
}

Result<Alignment> align(const Side& a, const Side& b, const ValueMap& given) {
  Pairing pairing(a, b);
  DRIFTSCOPE_CHECK(pairing.add_given(a, b, given));
  pairing.add_names();
  pairing.add_outputs();
  pairing.add_gaps();
  pairing.add_leftovers();
  return pairing.take();
}

}  // namespace driftscope::convert
