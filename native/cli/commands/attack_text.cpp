#include "native/cli/commands/attack_text.hpp"

#include <fmt/format.h>

#include "core/report/text_table.hpp"
#include "core/statistics/rate.hpp"
#include "native/cli/console.hpp"

namespace driftscope {
namespace attack_text {
namespace {

std::string percent(std::int64_t some, std::int64_t all) {
  return fmt::format("{:.2f} %",
                     all == 0 ? 0.0 : 100.0 * (static_cast<double>(some) / static_cast<double>(all)));
}

void print_rates(const AttackText& text) {
  const documents::Attack& document = text.document;
  print_out("{}  {}  {} of {} samples, which all targets answer rightly\n", text.model, document.method,
            document.samples, text.samples);
  TextTable table;
  table.column("target", Align::left);
  for (const char* title : {"success", "of", "mean L∞", "mean L2", "mean changed", "queries"})
    table.column(title, Align::right);
  for (const documents::AttackResult& one : document.results)
    table.row({one.target, percent(one.successes, document.samples), fmt::format("{}", document.samples),
               fmt::format("{:.4g}", one.mean_linf), fmt::format("{:.4g}", one.mean_l2),
               fmt::format("{:.4g}", one.mean_changed), fmt::format("{}", one.queries)});
  print_out("{}", table.text());
  if (document.samples < enough_for_a_rate)
    print_out("{} samples are too few for rates: take 100 or more\n", document.samples);
  if (!document.as_published.empty()) print_out("as published: {}\n", document.as_published);
}

// Titles fit what is below them: a target's own name beside the counts of both.
void print_transfer(const AttackReport& report) {
  if (report.transfer.empty()) return;
  TextTable table;
  table.column("results of the attack on", Align::left);
  table.column("shown to", Align::left);
  for (const char* title : {"share that fools it too", "fool both", "only the first", "only the second"})
    table.column(title, Align::right);
  for (const Transferred& one : report.transfer)
    table.row({one.from, one.to, one.adversarials == 0 ? "–" : percent(one.fooled, one.adversarials),
               fmt::format("{}", one.fooled), fmt::format("{}", one.only_from.size()),
               fmt::format("{}", one.only_to.size())});
  print_out("\n{}", table.text());
}

void print_separations(const AttackReport& report) {
  if (report.transfer.empty()) return;
  if (report.answered_differently == 0) {
    print_out("\nNo result of an attack is answered differently by another target.\n");
    return;
  }
  print_out("\n{} results are answered differently by two targets; the layer that separates them{}:\n",
            report.answered_differently,
            report.answered_differently > std::ssize(report.separations)
                ? fmt::format(", of the first {}", report.separations.size())
                : "");
  for (const SeparatedAnswers& one : report.separations) {
    const AnswerSeparation& layer = one.layer;
    print_out("  sample {}: {} answers {}, {} answers {}: ", one.sample, one.from, one.class_from, one.to,
              one.class_to);
    if (layer.node.empty())
      print_out("no layer is named: {}\n", layer.reason);
    else if (layer.beyond_rounding)
      print_out("{} {} ({} on {}, {} on {}), the first that rounding does not explain\n", layer.op,
                layer.node, verdict_name(layer.left), one.from, verdict_name(layer.right), one.to);
    else
      print_out("all is rounding; that of {} {} moves the margin most, by {:.2g} of {:.2g} in all\n",
                layer.op, layer.node, layer.moved, layer.moved_by_all);
  }
}

void print_robustness(const documents::Attack& document) {
  if (document.robustness.size() < 2) return;
  TextTable table;
  table.column("model", Align::left);
  table.column("target", Align::left);
  table.column("R (Eq. 2)", Align::right);
  table.column("R (Eq. 4)", Align::right);
  for (const documents::AttackRobustness& row : document.robustness)
    table.row({row.model_sha256.substr(0, 12), row.target, fmt::format("{:.4f}", row.r),
               row.r_conversion ? fmt::format("{:.4f}", *row.r_conversion) : "–"});
  print_out(
      "\nRobustness R over {}: each attack counts 0 at its least success in these rows and 1 at its "
      "largest\n{}",
      fmt::join(document.robustness_attacks, ", "), table.text());
}

}  // namespace
}  // namespace attack_text

void print_attack(const AttackText& text) {
  attack_text::print_rates(text);
  attack_text::print_transfer(text.report);
  attack_text::print_separations(text.report);
  attack_text::print_robustness(text.document);
}

}  // namespace driftscope
