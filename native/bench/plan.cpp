#include "native/bench/plan.hpp"

#include <fmt/format.h>

#include <set>

#include "core/inputs/input_sizes.hpp"

namespace driftscope {
namespace {

std::string group_name(std::int64_t batch, int threads, const std::string& capture) {
  std::string name = fmt::format("batch={}", batch);
  if (threads > 0) name += fmt::format(",threads={}", threads);
  return capture == "none" ? name : name + ",trace=" + capture;
}

/// The graph with its leading dimensions, where they are symbols, bound to `batch`.
Result<Graph> with_batch(const Graph& graph, std::int64_t batch) {
  Graph bound = graph;
  for (const ValueId id : bound.inputs) {
    Value& input = bound.values[id];
    if (!input.shape || input.shape->empty()) continue;
    Dimension& leading = input.shape->front();
    if (leading.known() && leading.size != batch)
      return bad_input(
          fmt::format("--batch {}: the model fixes the batch of its input {} ({}); export it with a symbolic "
                      "leading dimension to run other batches",
                      batch, input.name, shape_text(*input.shape)));
    leading = {batch, ""};
  }
  return bound;
}

/// Behind it the same row in the other build, if there is one.
void add_row(std::vector<PlannedRow>& rows, PlannedRow planned, const BenchPlan& plan) {
  rows.push_back(std::move(planned));
  if (!plan.other_build) return;
  PlannedRow other = rows.back();
  other.build = &*plan.other_build;
  other.row.reference = plan.other_build->name;
  rows.push_back(std::move(other));
}

}  // namespace

Result<std::vector<PlannedRow>> plan_rows(const BenchPlan& plan, const ModelFile& model) {
  std::vector<PlannedRow> rows;
  std::set<std::string> seen;
  const std::vector<std::int64_t> batches =
      plan.batches.empty() ? std::vector<std::int64_t>{1} : plan.batches;
  const std::vector<int> threads = plan.threads.empty() ? std::vector<int>{0} : plan.threads;
  for (const std::string& capture : plan.captures)
    for (const std::int64_t batch : batches)
      for (const int count : threads)
        for (const Target& named : plan.targets) {
          PlannedRow planned{{}, named};
          const bool listed = count > 0 && !named.options.contains("threads");
          if (listed) planned.target.options["threads"] = std::to_string(count);
          BenchRow& row = planned.row;
          row.model = std::filesystem::path(model.name).stem().string();
          row.model_sha256 = model.sha256;
          row.target = planned.target.text();
          row.base_name = named.text();
          row.batch = batch;
          row.capture = capture;
          row.group = group_name(batch, listed ? count : 0, capture);
          // With its own threads it is one row, regardless of the list.
          if (seen.insert(row.target + "|" + group_name(batch, 0, capture)).second)
            add_row(rows, std::move(planned), plan);
          else if (listed || count == threads.front())
            return bad_input(fmt::format("target {} is requested twice", row.target));
        }
  return rows;
}

Result<GivenInputs> inputs_for_batch(const BenchPlan& plan, const ModelFile& model, std::int64_t batch) {
  if (plan.batches.empty()) return read_inputs(plan.inputs, model);
  for (const std::string& input : plan.inputs)
    if (!input.starts_with("seed:") && !is_size_spec(input))
      return bad_input("--batch generates its own inputs; use --input seed:N, or none");
  ModelFile with_shape = model;
  DRIFTSCOPE_TRY(with_shape.graph, with_batch(model.graph, batch));
  return read_inputs(plan.inputs, with_shape);
}

}  // namespace driftscope
