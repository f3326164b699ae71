#include "native/cli/matrix_run.hpp"

#include <fmt/format.h>

#include "core/matrix/matrix_results.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

/// "chrome" of "chrome/strict".
std::string host_of(const std::string& target) { return target.substr(0, target.find('/')); }

documents::MatrixCell cell_of(const ProgramJobResult& result) {
  if (result.error) return failed_cell(result.error->message);
  if (result.result.empty())
    return failed_cell(result.errors.empty() ? fmt::format("exit code {}", result.exit_code.value_or(-1))
                                             : result.errors);
  auto cell = cell_of_comparison(result.result);
  if (!cell.ok()) return failed_cell("its comparison cannot be read: " + cell.error().message);
  cell->checked = result.exit_code == 1 && cell_ran(*cell);
  return *std::move(cell);
}

Result<std::string> keep(const MatrixFiles& files, const MatrixRunOptions& options, const MatrixPlace& place,
                         const ProgramJobResult& result) {
  documents::MatrixCell cell = cell_of(result);
  cell.model = files.matrix.models[place.model].name;
  cell.data = name_of(files.matrix.data[place.data]);
  cell.target = files.targets[place.target];
  cell.key = key_of(files, place);
  cell.worker = result.worker;
  cell.seconds = result.seconds;
  // The comparison first: what the store names is there.
  if (!result.result.empty())
    DRIFTSCOPE_CHECK(write_file(options.results / (cell.key + ".json"), result.result));
  if (is_bad(cell)) options.found(cell);
  return cell_line(cell);
}

}  // namespace

CampaignCell stored_cell(const MatrixFiles& files, const MatrixPlace& cell) {
  constexpr std::size_t shown_digits = 16;
  return {files.stored_targets[cell.target + 1],
          fmt::format("{} on {} ({})", files.matrix.models[cell.model].name,
                      name_of(files.matrix.data[cell.data]), key_of(files, cell).substr(0, shown_digits))};
}

JobCampaign matrix_campaign(const MatrixFiles& files, const MatrixRunOptions& options) {
  JobCampaign campaign;
  campaign.cells = files.cells.size();
  campaign.name = [&](std::size_t cell) { return stored_cell(files, files.cells[cell]); };
  campaign.title = [&](std::size_t cell) {
    return fmt::format("{} on {}", files.matrix.models[files.cells[cell].model].name,
                       files.targets[files.cells[cell].target]);
  };
  campaign.lane = [&](std::size_t cell) {
    std::string host = host_of(files.targets[files.cells[cell].target]);
    return options.alone(host) ? host : std::string();
  };
  campaign.job = [&](std::size_t cell) -> Result<ProgramJob> {
    ProgramJob job = job_of(files, files.cells[cell]);
    job.arguments.insert(job.arguments.end(), options.before.begin(), options.before.end());
    const std::string host = host_of(files.targets[files.cells[cell].target]);
    const bool elsewhere = host.find(':') != std::string::npos;  // remote:NAME, webdriver:NAME
    if (!options.times_here && !elsewhere) job.arguments.insert(job.arguments.end(), {"--times", "0"});
    return job;
  };
  campaign.result = [&](std::size_t cell, const ProgramJobResult& result) {
    return keep(files, options, files.cells[cell], result);
  };
  return campaign;
}

Result<documents::MatrixResults> results_of(const MatrixFiles& files, const CampaignStore& store) {
  documents::MatrixResults results;
  results.title = files.matrix.title;
  results.left = files.left;
  results.total = std::ssize(files.cells);
  for (const MatrixPlace& place : files.cells) {
    const auto found = store.results().find(stored_cell(files, place));
    if (found == store.results().end()) continue;
    auto cell = read_cell(found->second);
    if (!cell.ok()) return in_context(std::move(cell).error(), "the store: " + found->first.item);
    results.cells.push_back(*std::move(cell));
  }
  return results;
}

}  // namespace driftscope
