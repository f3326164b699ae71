// driftscope wall DIR -o OUT: stored comparisons over releases, as static pages.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>

#include "core/wall/pages.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/http/wall_folder.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"

namespace driftscope {
namespace {

constexpr std::size_t most_named = 20;  // files that are not shown

struct WallOptions {
  std::string folder;
  std::string out;
};

/// Somebody's own front page is not replaced: ours says at its beginning who made it.
Status check_front_page(const std::filesystem::path& path) {
  constexpr std::size_t looked_at = 4096;
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  std::string start(looked_at, ' ');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (start.find("<meta name=\"generator\" content=\"Driftscope\">") != std::string::npos) return {};
  return bad_input(fmt::format(
      "{} was not written by driftscope: choose another folder with -o, or remove it", path.string()));
}

/// The pages of models first: whatever the front page links to is there.
Status write_wall(const wall::Wall& wall, const std::filesystem::path& out) {
  const std::filesystem::path front = out / wall::front_page_name;
  DRIFTSCOPE_CHECK(make_folders(out));
  DRIFTSCOPE_CHECK(check_front_page(front));
  for (std::size_t i = 0; i < wall.models.size(); ++i)
    DRIFTSCOPE_CHECK(write_file(out / wall.models[i].page, wall::model_page(wall, i).html));
  return write_file(front, wall::front_page(wall).html);
}

void print_skipped(const wall::Wall& wall) {
  for (std::size_t i = 0; i < std::min(most_named, wall.skipped.size()); ++i)
    print_out("skipped: {}: {}\n", wall.skipped[i].name, wall.skipped[i].why);
  if (wall.skipped.size() > most_named) print_out("skipped: {} more\n", wall.skipped.size() - most_named);
  if (wall.others > 0) print_out("{} other JSON files\n", wall.others);
}

Status run_wall(const WallOptions& options) {
  WallFolder folder(options.folder);
  DRIFTSCOPE_TRY(const auto wall, folder.read());
  print_skipped(*wall);
  if (wall->files == 0)
    return bad_input(
        fmt::format("{}: no file of 'driftscope compare --json' in this folder or below it", options.folder));
  DRIFTSCOPE_CHECK(write_wall(*wall, options.out));
  const auto worse = std::ranges::count_if(wall->changes, &wall::Change::worse);
  print_out("wall: {}: {} models, {} runs of {} comparisons, {} times worse\n",
            (std::filesystem::path(options.out) / wall::front_page_name).string(), wall->models.size(),
            wall->runs, wall->files, worse);
  return {};
}

}  // namespace

namespace commands::wall {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<WallOptions>();
  app.add_option("DIR", options->folder,
                 "A folder with files of 'compare --json', of any names, at any depth; others are left alone")
      ->required();
  app.add_option("-o,--out", options->out, "The folder for index.html and the models' pages")
      ->default_val("wall");
  app.footer(
      "Every model with every target over releases of browsers and runtimes: what became worse, since when, "
      "and how\nlong it took. The pages are static, run no script and can be published as they are "
      "(docs/wall.md).\n\n"
      "  driftscope compare model.onnx --right chrome/ort-webgpu --json results/$(date +%F).json\n"
      "  driftscope wall results -o public\n"
      "  driftscope serve --results results        # the same, read again when files change");
  return [options] {
    const Status status = run_wall(*options);
    if (!status.ok()) return print_error(status.error()), exit_of(status.error());
    return Exit::ok;
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 33,
             .name = "wall",
             .summary = "Show stored comparisons over releases of browsers and runtimes, as pages.",
             .declare = declare});
}

}  // namespace commands::wall

}  // namespace driftscope
