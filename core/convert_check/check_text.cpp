#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "core/base/format.hpp"
#include "core/convert_check/check_view.hpp"
#include "core/report/text_table.hpp"
#include "core/results/layer_names.hpp"
#include "core/verify/top1.hpp"

namespace driftscope::convert {
namespace {

std::string model_line(const char* side, const CheckedModel& model) {
  std::string text = fmt::format("{}  {}  {}, {}", side, model.path, model.kind, format_bytes(model.bytes));
  if (model.nodes > 0)
    text +=
        fmt::format(", {} nodes, {} weights, loaded in {:.3g} ms", model.nodes, model.weights, model.load_ms);
  for (const std::string& note : model.notes) text += fmt::format("\n   {}", note);
  return text + "\n";
}

std::string pairs_line(const Alignment& alignment) {
  std::array<std::size_t, 4> by{};
  std::size_t moved = 0;
  for (const ValuePair& pair : alignment.pairs) {
    ++by[static_cast<std::size_t>(pair.by)];
    if (!pair.order.empty()) ++moved;
  }
  std::string how;
  for (const FoundBy found : {FoundBy::given, FoundBy::name, FoundBy::structure, FoundBy::values})
    if (by[static_cast<std::size_t>(found)] > 0)
      how += fmt::format("{}{} by {}", how.empty() ? "" : ", ", by[static_cast<std::size_t>(found)],
                         found == FoundBy::given ? "the map" : found_by_name(found));
  std::string text = fmt::format("{} values are in both ({})", alignment.pairs.size(), how);
  if (moved > 0) text += fmt::format(", {} with other axes", moved);
  const auto rest = [&](const char* side, const std::vector<std::string>& names) {
    if (names.empty()) return;
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 3); ++i)
      list += (i > 0 ? ", " : "") + plain_text(names[i], 40);
    text += fmt::format("; {} only in {} ({}{})", names.size(), side, list, names.size() > 3 ? ", …" : "");
  };
  rest("A", alignment.only_a);
  rest("B", alignment.only_b);
  return text + "\n";
}

std::string order_text(const Order& order) {
  return order.empty() ? "" : fmt::format(" [{}]", fmt::join(order, ""));
}

std::string layer_table(const Check& check, const std::vector<std::size_t>& rows) {
  TextTable table;
  table.column("A", Align::left);
  table.column("B", Align::left);
  table.column("op", Align::left);
  table.column("shape", Align::left);
  table.column("by", Align::left);
  table.column("max abs", Align::right);
  table.column("max rel", Align::right);
  table.column("mean abs", Align::right);
  table.column("budget", Align::right);
  table.column("B's layer", Align::left);
  for (const std::size_t row : rows) {
    const CheckedLayer& layer = check.layers[row];
    std::string op = layer.op.empty() ? (layer.op_b.empty() ? "input" : layer.op_b) : layer.op;
    if (!layer.op.empty() && !layer.op_b.empty() && layer.op != layer.op_b) op += " / " + layer.op_b;
    const bool known = layer.reason.empty();
    std::string verdict = "–";
    if (layer.judged) {
      verdict = verdict_text(layer.judged->verdict);
      if (!layer.judged->group.empty())
        verdict += fmt::format(" (with {} before)", layer.judged->group.size());
    }
    if (!known) verdict += "  " + plain_text(layer.reason, 60);
    table.row({elide_start(plain_text(layer.values.a, 60), layer_name_width),
               elide_start(plain_text(layer.values.b, 60), layer_name_width), elide(op, 30),
               shape_text(layer.shape) + order_text(layer.values.order),
               std::string(found_by_name(layer.values.by)), known ? format_number(layer.drift.max_abs) : "–",
               known ? format_number(layer.drift.max_rel) : "–",
               known ? format_number(layer.drift.mean_abs) : "–",
               layer.judged ? format_number(layer.judged->budget_used) : "–", verdict});
  }
  return table.text();
}

constexpr std::size_t max_layers_explained = 3;

std::string rest_of_reasons(const Check& check, std::size_t from) {
  std::map<std::string_view, std::size_t> layers;  // by cause
  std::size_t count = 0;
  for (std::size_t i = from; i < check.explanations.size(); ++i) {
    const Explanation& one = check.explanations[i];
    const bool first = i == from || check.explanations[i - 1].layer != one.layer;
    if (first) ++count;
    if (first || check.explanations[i - 1].cause != one.cause) ++layers[cause_name(one.cause)];
  }
  std::string list;
  for (const auto& [cause, number] : layers)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", cause, number);
  return fmt::format("{} more layers ({}); all: --layers all\n", count, list);
}

std::string reasons_text(const Check& check, bool all) {
  std::string text;
  std::size_t layers = 0;
  for (std::size_t i = 0; i < check.explanations.size(); ++i) {
    const Explanation& one = check.explanations[i];
    if (i == 0 || check.explanations[i - 1].layer != one.layer) {
      if (++layers > max_layers_explained && !all) return text + rest_of_reasons(check, i);
      text += fmt::format("{}\n", plain_text(check.layers[one.layer].values.a, 80));
    }
    text += fmt::format("  {}: {}\n", cause_name(one.cause), one.text);
    if (one.confirmed == true) text += "  tested: with this, A computes what B did\n";
    const bool last = i + 1 == check.explanations.size() || check.explanations[i + 1].layer != one.layer;
    if (one.confirmed == false && !one.together)
      text += "  tested: this does not explain the whole difference\n";
    if (last && one.together) text += "  tested: with all of these, A computes what B did\n";
  }
  return text;
}

std::string dataset_text(const DatasetCheck& data) {
  const auto share = [&](std::int64_t count) {
    return fmt::format(
        "{} of {} ({:.2f} %)", count, data.samples,
        100.0 * static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(1, data.samples)));
  };
  std::string text = fmt::format("{}\n  same top-1 class: {}\n", data.text, share(data.agree));
  if (data.a.correct >= 0)
    text += fmt::format("  right: A {}, B {}\n", share(data.a.correct), share(data.b.correct));
  return text + fmt::format("  outputs: max abs {}, mean abs {}, max rel {}, mean rel {}\n",
                            format_number(data.drift.max_abs), format_number(data.drift.mean_abs),
                            format_number(data.drift.max_rel), format_number(data.drift.mean_rel));
}

std::vector<std::size_t> rows_of(const Check& check, const LayerChoice& choice) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < check.layers.size(); ++i) rows.push_back(i);
  if (choice.all || rows.size() <= 2 * choice.limit) return rows;
  const auto weight = [&](std::size_t i) {
    const auto& judged = check.layers[i].judged;
    return std::tuple(judged ? severity(judged->verdict) : -1, judged ? judged->budget_used : 0.0);
  };
  // Not stable_sort: Clang warns of what libstdc++ does in it.
  std::ranges::sort(rows, [&](std::size_t i, std::size_t j) {
    return weight(i) == weight(j) ? i < j : weight(i) > weight(j);
  });
  rows.resize(choice.limit);
  std::ranges::sort(rows);
  return rows;
}

}  // namespace

std::int64_t weight_count(const Graph& graph) {
  std::int64_t count = 0;
  for (const Value& value : graph.values)
    if (value.constant) count += value.constant->elements();
  return count;
}

std::string check_headline(const Check& check) {
  if (!check.first_parting) {
    switch (check.verdict) {
      case Verdict::identical: return "B computes exactly what A does.";
      case Verdict::rounding: return "B computes what A does, up to rounding.";
      default:
        return fmt::format("No layer of B diverges from A beyond rounding; the worst is {}.",
                           verdict_name(check.verdict));
    }
  }
  const std::size_t first = *check.first_parting;
  std::string why;
  std::size_t more = 0;
  for (const Explanation& one : check.explanations)
    if (one.layer == first) {
      if (why.empty())
        why = one.text;
      else
        ++more;
    }
  return fmt::format("They diverge at {} ({}): {}{}", plain_text(check.layers[first].values.a, 80),
                     check.layers[first].op.empty() ? check.layers[first].op_b : check.layers[first].op, why,
                     more > 0 ? fmt::format(" (and {} more)", more) : "");
}

std::string check_text(const CheckView& view, const LayerChoice& choice) {
  const Check& check = view.check;
  std::string text = model_line("A", view.a) + model_line("B", view.b);
  text += fmt::format("on {}, input {}\n{}\n", view.target, view.input_text, pairs_line(check.alignment));
  for (const ValuePair& pair : view.reordered)
    text += fmt::format(
        "{} was given to B with its axes in the order{}: its shape fits several orders, and with this one "
        "they agree\n",
        plain_text(pair.a, 60), pair.order.empty() ? " of A" : order_text(pair.order));
  if (!view.reordered.empty()) text += "\n";
  const auto rows = rows_of(check, choice);
  text += layer_table(check, rows);
  if (rows.size() < check.layers.size())
    text += fmt::format("\nThe worst {} of {}; all: --layers all\n", rows.size(), check.layers.size());
  if (!check.explanations.empty()) text += "\nWhy\n" + reasons_text(check, choice.all);
  if (!check.hidden.empty()) text += "\nFurther differences, which this input does not show\n";
  for (const Explanation& one : check.hidden)
    text += fmt::format("  {}: {}: {}\n", plain_text(check.layers[one.layer].values.a, 80),
                        cause_name(one.cause), one.text);
  if (view.dataset) text += "\n" + dataset_text(*view.dataset);
  return text + "\n" + check_headline(check) + "\n";
}

}  // namespace driftscope::convert
