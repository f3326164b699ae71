#include "native/cli/verify_batch.hpp"

#include <fmt/format.h>

#include <set>

#include "core/base/sha256.hpp"
#include "core/matrix/matrix_results.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr auto verify_limit = std::chrono::hours(4);

CampaignCell cell_in_store(const VerifyBatch::TraceFile& trace) {
  constexpr std::size_t shown_digits = 16;
  return {"verify",
          fmt::format("{} ({})", trace.path.filename().string(), trace.key.substr(0, shown_digits))};
}

Result<ProgramJob> job_for(const VerifyBatch& batch, const VerifyBatch::TraceFile& trace) {
  ProgramJob job;
  job.key = trace.key;
  job.limit = verify_limit;
  job.arguments = {"verify"};
  add_part(job, batch.part);
  const std::string name = "trace/" + trace.path.filename().string();
  job.files[name] = trace.path;
  job.arguments.push_back("@{" + name + "}");
  for (const auto* const some : {&batch.options, &batch.others})
    job.arguments.insert(job.arguments.end(), some->begin(), some->end());
  job.arguments.insert(job.arguments.end(), {"--json", std::string("@{") + job_result_name + "}", "--quiet"});
  return job;
}

documents::MatrixCell verified_cell(const ProgramJobResult& result) {
  if (result.error) return failed_cell(result.error->message);
  if (result.result.empty()) return failed_cell(result.errors);
  auto cell = cell_of_verification(result.result);
  if (!cell.ok()) return failed_cell("its verification cannot be read: " + cell.error().message);
  cell->checked = result.exit_code == 1;
  return *std::move(cell);
}

}  // namespace

Result<VerifyBatch> open_batch(
    const std::string& model, const std::vector<std::string>& traces, std::vector<std::string> options,
    const std::function<void(const std::string& step, std::int64_t done, std::int64_t total)>& step) {
  VerifyBatch batch;
  DRIFTSCOPE_TRY(const ModelFile opened, load_model_file(model, Weights::deferred));
  batch.model = opened.name;
  batch.part = model_part(opened);
  batch.options = std::move(options);
  const std::string asked = fmt::format("{}", fmt::join(batch.options, "\n"));
  std::set<std::string> keys;
  for (const std::string& name : traces) {
    step("reading " + name, std::ssize(batch.traces), std::ssize(traces));
    DRIFTSCOPE_TRY(const MappedFile file, MappedFile::open(name));
    VerifyBatch::TraceFile trace{name, name, ""};
    trace.key = text_sha256(fmt::format("{}\n{}\n{}\n{}", batch.part.hash, trace.path.filename().string(),
                                        sha256_hex(file.source()), asked));
    if (!keys.insert(trace.key).second) return bad_input(name + ": it is given twice, or a copy of it");
    batch.traces.push_back(std::move(trace));
  }
  return batch;
}

JobCampaign batch_campaign(const VerifyBatch& batch) {
  JobCampaign campaign;
  campaign.cells = batch.traces.size();
  campaign.name = [&](std::size_t cell) { return cell_in_store(batch.traces[cell]); };
  campaign.title = [&](std::size_t cell) { return batch.traces[cell].path.filename().string(); };
  campaign.job = [&](std::size_t cell) { return job_for(batch, batch.traces[cell]); };
  campaign.result = [&](std::size_t index, const ProgramJobResult& result) -> Result<std::string> {
    const VerifyBatch::TraceFile& trace = batch.traces[index];
    documents::MatrixCell cell = verified_cell(result);
    cell.model = batch.model;
    cell.data = trace.name;
    cell.key = trace.key;
    cell.worker = result.worker;
    cell.seconds = result.seconds;
    if (!result.result.empty())
      DRIFTSCOPE_CHECK(write_file(batch.results / (trace.key + ".json"), result.result));
    if (is_bad(cell) && batch.found) batch.found(cell);
    return cell_line(cell);
  };
  return campaign;
}

Result<documents::MatrixResults> results_of(const VerifyBatch& batch, const CampaignStore& store) {
  documents::MatrixResults results;
  results.left = "the reference";
  results.total = std::ssize(batch.traces);
  for (const VerifyBatch::TraceFile& trace : batch.traces) {
    const auto found = store.results().find(cell_in_store(trace));
    if (found == store.results().end()) continue;
    auto cell = read_cell(found->second);
    if (!cell.ok()) return in_context(std::move(cell).error(), "the store: " + found->first.item);
    results.cells.push_back(*std::move(cell));
  }
  return results;
}

}  // namespace driftscope
