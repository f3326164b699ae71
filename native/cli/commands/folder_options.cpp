#include "native/cli/commands/folder_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <set>

#include "core/base/json.hpp"
#include "core/folder/folder_page.hpp"
#include "core/folder/folder_text.hpp"
#include "native/cli/folder_run.hpp"
#include "native/host/targets.hpp"
#include "native/os/files.hpp"

namespace driftscope {

void add_folder_options(CLI::App& app, FolderOptions& options) {
  app.add_option("--part", options.part, "Of a folder: only this model of several (decoder_model_merged, …)");
  app.add_option(
         "--tolerance", options.tolerance,
         "Of a folder: the drift up to which a variant keeps an answer that is no prediction, as a share "
         "of the output's largest element")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
}

void look_for_wrong_options(const CLI::App& app, FolderOptions& options) {
  const std::set<std::string> known = {
      "MODEL",       "--input",        "--input-shape",    "--dim",           "--left",          "--right",
      "--repeat",    "--times",        "--trace",          "--json",          "--report",        "--fail-on",
      "--quiet",     "--part",         "--tolerance",      "--timeout",       "--stall-timeout", "--site",
      "--webdriver", "--capabilities", "--webdriver-page", "--webdriver-port"};
  for (const CLI::Option* const option : app.get_options()) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name();
    if (!known.contains(name) && options.wrong.empty()) options.wrong = name;
    if (name == "--part" || name == "--tolerance") options.alone = name;
  }
}

Result<Exit> compare_folder(const FolderCommand& command, const FolderOptions& options,
                            const CompareRequest& request) {
  if (!options.wrong.empty())
    return bad_input(fmt::format("{} is a folder, and {} is for a single model; name the file that you mean",
                                 command.folder, options.wrong));
  FolderRequest folder;
  folder.folder = command.folder;
  folder.part = options.part;
  folder.compare = request;
  folder.conditions = command.conditions;
  folder.tolerance = options.tolerance;
  DRIFTSCOPE_TRY(const Target left, read_target(command.left));
  if (!command.right.empty()) {
    DRIFTSCOPE_TRY(folder.targets, read_targets(command.right));
  }
  std::erase_if(folder.targets, [&](const Target& target) { return target.text() == left.text(); });
  folder.targets.insert(folder.targets.begin(), left);
  for (const Target& target : folder.targets)
    if (target.host == "file")
      return bad_input(
          fmt::format("{}: a recording is of one model, and {} is a folder", target.text(), command.folder));
  DRIFTSCOPE_TRY(const FolderResults results, run_folder(folder));
  const documents::Folder& document = results.document;
  std::FILE* const out = command.json == "-" ? stderr : stdout;
  if (command.json != "-") print_out("{}", folder_text(document));
  if (!command.json.empty())
    DRIFTSCOPE_CHECK(write_json(command.json, json_text(encode(document), 1) + "\n"));
  if (!command.page.empty()) {
    DRIFTSCOPE_CHECK(write_file(command.page, folder_page(document)));
    print_text(out, fmt::format("report: {}\n", command.page));
  }
  for (const std::string& one : document.failed_checks) print_text(out, fmt::format("failed: {}\n", one));
  return document.failed_checks.empty() ? results.exit : Exit::fault;
}

}  // namespace driftscope
