// LSTM, GRU and RNN, the sequence unrolled: what a step's gates are follows from Y, so all steps are computed
// at once, and only the gradient itself goes back step by step. Equations as in ONNX Operators.md.
#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_recurrent {
namespace {

constexpr std::int64_t max_steps = 4096;

// One direction of a node. Tensors over time are [T, N, …], in the order in which this direction runs.
struct Direction {
  NodeGradient& at;
  std::int64_t index = 0;
  std::int64_t steps = 0;
  std::int64_t hidden = 0;
  bool reversed = false;
  GradientEmitter& emit = at.emit();
  DType dtype = at.dtype();
  std::string x = {}, w = {}, r = {};
  std::string states = {};           ///< h after each step
  std::string previous = {};         ///< h before each step
  std::vector<std::string> dy = {};  ///< by step, [1, N, H], "" for none

  std::string one() { return emit.scalar(1.0, dtype); }
  std::string one_minus(const std::string& a) { return emit.sub(one(), a); }
  /// Of [D, …].
  std::string of_direction(const std::string& all) { return emit.node("Gather", {all, emit.index(index)}); }
  std::string in_order(const std::string& time) {
    if (!reversed) return time;
    return emit.slice(time, {-1}, {-steps - 1}, {0}, {-1});
  }
  std::vector<std::string> by_step(const std::string& time) {
    return emit.split(time, Ints(static_cast<std::size_t>(steps), 1), 0);
  }
  /// A state [D, N, H] as [1, N, H]; "" if omitted (zero).
  std::string initial(std::size_t input) {
    if (!at.has_input(input)) return "";
    return emit.slice(at.x(input), {index}, {index + 1}, {0});
  }
  /// The state before each step, from those after.
  std::string shifted(const std::string& after, const std::string& first) {
    const std::string head = emit.slice(after, {0}, {steps - 1}, {0});
    if (!first.empty()) return emit.concat({first, head}, 0);
    return emit.pad(head, {1, 0, 0, 0, 0, 0}, 0.0, dtype);
  }
  std::vector<std::string> gates(const std::string& all, std::int64_t count) {
    return emit.split(all, Ints(static_cast<std::size_t>(count), hidden), 2);
  }
  std::string turned(const std::string& matrix) { return emit.transpose(matrix, {1, 0}); }
  /// The rows of gate i in W or R, [H, …].
  std::string rows(const std::string& matrix, std::int64_t first, std::int64_t count) {
    return emit.slice(matrix, {first * hidden}, {(first + count) * hidden}, {0});
  }
  /// The bias of W or R as [gates·H]; "" if there is none.
  std::string bias(std::int64_t gates, bool recurrent) {
    if (!at.has_input(3)) return "";
    const std::int64_t begin = recurrent ? gates * hidden : 0;
    return emit.slice(of_direction(at.x(3)), {begin}, {begin + gates * hidden}, {0});
  }
  std::string plus(const std::string& a, const std::string& b) {
    if (a.empty()) return b;
    return b.empty() ? a : emit.add(a, b);
  }
};

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

Result<std::string> activated(Direction& d, const std::string& name, const std::string& z) {
  if (name == "sigmoid") return d.emit.node("Sigmoid", {z});
  if (name == "tanh") return d.emit.node("Tanh", {z});
  if (name == "relu") return d.emit.node("Relu", {z});
  return d.at.unsupported_form("with activation " + name + " (Sigmoid, Tanh and Relu have one)");
}

// From the activation's output; activated() has checked the name.
std::string slope(Direction& d, const std::string& name, const std::string& y) {
  if (name == "sigmoid") return d.emit.mul(y, d.one_minus(y));
  if (name == "tanh") return d.one_minus(d.emit.mul(y, y));
  return d.emit.mask("Greater", {y, d.emit.scalar(0.0, d.dtype)}, d.dtype);
}

struct Backward {
  std::string dz_x;     ///< [T, N, gates·H]: of what W makes of X
  std::string dz_r;     ///< of what R makes of h; the same except in a GRU
  std::string dh;       ///< before the first step, [1, N, H]
  std::string dc = {};  ///< likewise
  std::string dr = {};  ///< of R, [gates·H, H], where it is not dz_rᵀ·previous
};

using Cell = Result<Backward> (*)(Direction& d, const std::vector<std::string>& activations);

std::string joined(Direction& d, std::vector<std::string> by_step) { return d.emit.concat(by_step, 0); }

// f, g, h of LSTM; Z in the order i, o, f, c.
Result<Backward> lstm(Direction& d, const std::vector<std::string>& names) {
  GradientEmitter& emit = d.emit;
  if (d.at.has_input(7)) return d.at.unsupported_form("with peepholes (input P)");
  DRIFTSCOPE_TRY(const bool coupled, flag_attribute(d.at.node(), "input_forget", false));
  if (coupled) return d.at.unsupported_form("with input_forget");
  std::string z = emit.add(emit.matmul(d.x, d.turned(d.w)), emit.matmul(d.previous, d.turned(d.r)));
  z = d.plus(z, d.plus(d.bias(4, false), d.bias(4, true)));
  const auto parts = d.gates(z, 4);
  DRIFTSCOPE_TRY(const std::string i, activated(d, names[0], parts[0]));
  DRIFTSCOPE_TRY(const std::string o, activated(d, names[0], parts[1]));
  DRIFTSCOPE_TRY(const std::string f, activated(d, names[0], parts[2]));
  DRIFTSCOPE_TRY(const std::string g, activated(d, names[1], parts[3]));
  const auto forget = d.by_step(f);
  const auto added = d.by_step(emit.mul(i, g));
  const std::string first = d.initial(6);
  std::vector<std::string> cells;
  std::string c = first;
  for (std::size_t t = 0; t < forget.size(); ++t) {
    c = c.empty() ? added[t] : emit.add(emit.mul(forget[t], c), added[t]);
    cells.push_back(c);
  }
  const std::string all_cells = joined(d, cells);
  DRIFTSCOPE_TRY(const std::string out, activated(d, names[2], all_cells));
  const auto to_cell = d.by_step(emit.mul(o, slope(d, names[2], out)));
  const auto factors = d.by_step(emit.concat(
      {emit.mul(g, slope(d, names[0], i)), emit.mul(out, slope(d, names[0], o)),
       emit.mul(d.shifted(all_cells, first), slope(d, names[0], f)), emit.mul(i, slope(d, names[1], g))},
      2));
  std::vector<std::string> dz(forget.size());
  std::string dh, dc;
  if (d.at.node().outputs.size() > 2 && !d.at.dy(2).empty())
    dc = emit.slice(d.at.dy(2), {d.index}, {d.index + 1}, {0});
  for (std::size_t t = forget.size(); t-- > 0;) {
    dh = d.plus(d.dy[t], dh);
    // Nothing came from later steps yet.
    if (dh.empty() && dc.empty()) continue;
    const std::string zero = dh.empty() ? emit.mul(dc, emit.scalar(0.0, d.dtype)) : "";
    const std::string from_h = dh.empty() ? zero : dh;
    dc = d.plus(emit.mul(from_h, to_cell[t]), dc);
    dz[t] = emit.mul(emit.concat({dc, from_h, dc, dc}, 2), factors[t]);
    dh = emit.matmul(dz[t], d.r);
    dc = emit.mul(dc, forget[t]);
  }
  for (std::size_t t = 0; t < dz.size(); ++t)
    if (dz[t].empty()) dz[t] = emit.mul(factors[t], emit.scalar(0.0, d.dtype));
  const std::string all = joined(d, dz);
  return Backward{all, all, dh, dc};
}

// Z in the order z, r, h.
Result<Backward> gru(Direction& d, const std::vector<std::string>& names) {
  GradientEmitter& emit = d.emit;
  DRIFTSCOPE_TRY(const bool reset_after, flag_attribute(d.at.node(), "linear_before_reset", false));
  const std::string from_x = d.plus(emit.matmul(d.x, d.turned(d.w)), d.bias(3, false));
  const auto x_gates = d.gates(from_x, 3);
  const std::string gate_rows = d.rows(d.r, 0, 2);
  const std::string new_rows = d.rows(d.r, 2, 1);
  const std::string r_bias = d.bias(3, true);
  const auto r_part = [&](std::int64_t first, std::int64_t count) {
    return r_bias.empty() ? "" : emit.slice(r_bias, {first * d.hidden}, {(first + count) * d.hidden}, {0});
  };
  const std::string from_h = d.plus(emit.matmul(d.previous, d.turned(gate_rows)), r_part(0, 2));
  const auto h_gates = emit.split(from_h, {d.hidden, d.hidden}, 2);
  DRIFTSCOPE_TRY(const std::string z, activated(d, names[0], emit.add(x_gates[0], h_gates[0])));
  DRIFTSCOPE_TRY(const std::string r, activated(d, names[0], emit.add(x_gates[1], h_gates[1])));
  const std::string reset = emit.mul(r, d.previous);
  const std::string before =
      d.plus(emit.matmul(reset_after ? d.previous : reset, d.turned(new_rows)), r_part(2, 1));
  const std::string inner = emit.add(x_gates[2], reset_after ? emit.mul(r, before) : before);
  DRIFTSCOPE_TRY(const std::string candidate, activated(d, names[1], inner));
  // By element: dh times these are the gradients of the gates' sums.
  const std::string to_new = emit.mul(d.one_minus(z), slope(d, names[1], candidate));
  const std::string to_z = emit.mul(emit.sub(d.previous, candidate), slope(d, names[0], z));
  const std::string r_slope = slope(d, names[0], r);
  const auto keeps = d.by_step(z);
  std::vector<std::string> dhs(static_cast<std::size_t>(d.steps));
  std::vector<std::string> dr_gate(dhs.size());
  std::string dh;
  const std::string to_r =
      reset_after ? emit.mul(emit.mul(to_new, before), r_slope) : emit.mul(d.previous, r_slope);
  const auto news = d.by_step(reset_after ? emit.mul(to_new, r) : to_new);
  const auto zs = d.by_step(to_z);
  const auto rs = d.by_step(to_r);
  const auto resets = reset_after ? std::vector<std::string>() : d.by_step(r);
  for (std::size_t t = dhs.size(); t-- > 0;) {
    dh = d.plus(d.dy[t], dh);
    if (dh.empty()) continue;
    dhs[t] = dh;
    const std::string dz = emit.mul(dh, zs[t]);
    const std::string dn = emit.mul(dh, news[t]);
    std::string back;
    if (reset_after) {
      back = emit.matmul(emit.concat({dz, emit.mul(dh, rs[t]), dn}, 2), d.r);
    } else {
      const std::string dreset = emit.matmul(dn, new_rows);
      dr_gate[t] = emit.mul(dreset, rs[t]);
      back = emit.add(emit.matmul(emit.concat({dz, dr_gate[t]}, 2), gate_rows), emit.mul(dreset, resets[t]));
    }
    dh = emit.add(emit.mul(dh, keeps[t]), back);
  }
  for (std::size_t t = 0; t < dhs.size(); ++t) {
    const std::string none = emit.mul(keeps[t], emit.scalar(0.0, d.dtype));
    if (dhs[t].empty()) dhs[t] = none;
    if (dr_gate[t].empty()) dr_gate[t] = none;
  }
  const std::string all = joined(d, dhs);
  const std::string dz = emit.mul(all, to_z);
  const std::string dn = emit.mul(all, to_new);
  const std::string dr = reset_after ? emit.mul(all, to_r) : joined(d, dr_gate);
  Backward result{emit.concat({dz, dr, dn}, 2), {}, dh};
  result.dz_r = reset_after ? emit.concat({dz, dr, emit.mul(dn, r)}, 2) : result.dz_x;
  if (!reset_after && d.at.wanted(2)) {
    const auto product = [&](const std::string& dz_part, std::int64_t width, const std::string& h) {
      return emit.matmul(d.turned(emit.reshape(dz_part, {-1, width})), emit.reshape(h, {-1, d.hidden}));
    };
    result.dr = emit.concat(
        {product(emit.concat({dz, dr}, 2), 2 * d.hidden, d.previous), product(dn, d.hidden, reset)}, 0);
  }
  return result;
}

Result<Backward> rnn(Direction& d, const std::vector<std::string>& names) {
  GradientEmitter& emit = d.emit;
  // The state is the activation's output: its slope follows from it.
  DRIFTSCOPE_TRY(const std::string unused, activated(d, names[0], d.states));
  const auto slopes = d.by_step(slope(d, names[0], d.states));
  std::vector<std::string> dz(slopes.size());
  std::string dh;
  for (std::size_t t = slopes.size(); t-- > 0;) {
    dh = d.plus(d.dy[t], dh);
    if (dh.empty()) continue;
    dz[t] = emit.mul(dh, slopes[t]);
    dh = emit.matmul(dz[t], d.r);
  }
  for (std::size_t t = 0; t < dz.size(); ++t)
    if (dz[t].empty()) dz[t] = emit.mul(slopes[t], emit.scalar(0.0, d.dtype));
  const std::string all = joined(d, dz);
  return Backward{all, all, dh};
}

struct Family {
  Cell cell;
  std::int64_t gates;
  std::vector<std::string> activations;
};

Status recurrent(NodeGradient& at, const Family& family) {
  GradientEmitter& emit = at.emit();
  if (at.has_input(4)) return at.unsupported_form("with sequence_lens");
  DRIFTSCOPE_TRY(const std::int64_t layout, int_attribute(at.node(), "layout", 0));
  if (layout != 0) return at.unsupported_form("with layout 1");
  if (at.node().attribute("clip") != nullptr) return at.unsupported_form("with clip");
  DRIFTSCOPE_TRY(const std::string direction, string_attribute(at.node(), "direction", "forward"));
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  DRIFTSCOPE_TRY(std::vector<std::string> names, strings_attribute(at.node(), "activations", {}));
  if (names.empty())
    for (std::int64_t i = 0; i < directions; ++i)
      names.insert(names.end(), family.activations.begin(), family.activations.end());
  if (std::ssize(names) != directions * std::ssize(family.activations))
    return at.unsupported_form("with this number of activations");
  DRIFTSCOPE_TRY(const std::int64_t steps, at.size(at.input(0), 0));
  DRIFTSCOPE_TRY(const std::int64_t hidden, at.size(at.input(2), 2));
  DRIFTSCOPE_TRY(const std::int64_t width, at.size(at.input(0), 2));
  if (steps < 1 || steps > max_steps)
    return at.unsupported_form("of a sequence of more than 4096 steps, which is unrolled");
  std::vector<Backward> all;
  std::vector<std::string> dw, dr, db, dh, dc;
  for (std::int64_t i = 0; i < directions; ++i) {
    Direction d{
        .at = at, .index = i, .steps = steps, .hidden = hidden, .reversed = direction == "reverse" || i == 1};
    d.x = d.in_order(at.x(0));
    d.w = d.of_direction(at.x(1));
    d.r = d.of_direction(at.x(2));
    const auto over_time = [&](const std::string& y) {
      return d.in_order(emit.node("Gather", {y, emit.index(i)}, {{"axis", std::int64_t{1}}}));
    };
    d.states = over_time(at.y(0));
    d.previous = d.shifted(d.states, d.initial(5));
    d.dy.resize(static_cast<std::size_t>(steps));
    if (!at.dy(0).empty()) d.dy = d.by_step(over_time(at.dy(0)));
    if (at.node().outputs.size() > 1 && !at.dy(1).empty())
      d.dy.back() = d.plus(d.dy.back(), emit.slice(at.dy(1), {i}, {i + 1}, {0}));
    std::vector<std::string> own;
    const std::size_t count = family.activations.size();
    for (std::size_t k = 0; k < count; ++k)
      own.push_back(lower_case(names[static_cast<std::size_t>(i) * count + k]));
    DRIFTSCOPE_TRY(const Backward back, family.cell(d, own));
    if (at.wanted(0)) at.add(0, d.in_order(emit.matmul(back.dz_x, d.w)));
    const auto flat = [&](const std::string& time, std::int64_t columns) {
      return emit.reshape(time, {-1, columns});
    };
    const std::int64_t rows = family.gates * hidden;
    if (at.wanted(1))
      dw.push_back(emit.unsqueeze(emit.matmul(d.turned(flat(back.dz_x, rows)), flat(d.x, width)), {0}));
    if (at.wanted(2)) {
      const std::string matrix =
          back.dr.empty() ? emit.matmul(d.turned(flat(back.dz_r, rows)), flat(d.previous, hidden)) : back.dr;
      dr.push_back(emit.unsqueeze(matrix, {0}));
    }
    if (at.wanted(3)) {
      const std::string of_w = emit.reduce("ReduceSum", back.dz_x, {0, 1}, false);
      const std::string of_r = emit.reduce("ReduceSum", back.dz_r, {0, 1}, false);
      db.push_back(emit.unsqueeze(emit.concat({of_w, of_r}, 0), {0}));
    }
    dh.push_back(back.dh);
    dc.push_back(back.dc);
  }
  if (at.wanted(1)) at.add(1, emit.concat(dw, 0));
  if (at.wanted(2)) at.add(2, emit.concat(dr, 0));
  if (at.wanted(3)) at.add(3, emit.concat(db, 0));
  if (at.wanted(5)) at.add(5, emit.concat(dh, 0));
  if (at.wanted(6)) at.add(6, emit.concat(dc, 0));
  return {};
}

}  // namespace
}  // namespace gradient_recurrent

namespace gradient_rules::recurrent {

void add_to(GradientRuleTable& table) {
  namespace rules = gradient_recurrent;
  table.add("LSTM", [](NodeGradient& at) {
    return rules::recurrent(at, {rules::lstm, 4, {"Sigmoid", "Tanh", "Tanh"}});
  });
  table.add("GRU",
            [](NodeGradient& at) { return rules::recurrent(at, {rules::gru, 3, {"Sigmoid", "Tanh"}}); });
  table.add("RNN", [](NodeGradient& at) { return rules::recurrent(at, {rules::rnn, 1, {"Tanh"}}); });
}

}  // namespace gradient_rules::recurrent

}  // namespace driftscope
