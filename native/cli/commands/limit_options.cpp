#include "native/cli/commands/limit_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "native/cli/console.hpp"
#include "native/os/cleanup.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

constexpr const char* memory_option = "--max-memory";
constexpr const char* time_option = "--max-time";
constexpr const char* root_option = "--model-root";

}  // namespace

void add_limits(CLI::App& app, Limits& limits) {
  app.add_option(
         memory_option, limits.memory,
         "Memory of this process, as in 4GiB or 500MB, and of our engines in a browser: a model that "
         "needs "
         "more is refused. Default: half of what is free when it starts; in a browser half of the memory "
         "that it reports, at most 3 GiB")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{1} << 20, std::uint64_t{1} << 50));
  app.add_option(time_option, limits.seconds, "Seconds after which everything is ended (default: none)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, 1e9));
  app.add_option(root_option, limits.model_root,
                 "Additional folder for a model's external data, for caches made of links (default: "
                 "$DRIFTSCOPE_MODEL_ROOT; else only the model's own folder)")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
}

void set_limits(const Limits& limits, std::optional<TimeLimit>& time) {
  if (!limits.model_root.empty()) ::setenv(model_root_variable, limits.model_root.c_str(), 1);
  const std::int64_t free = available_memory();
  if (limits.memory > 0)
    limit_memory_as_asked(static_cast<std::int64_t>(limits.memory));
  else if (free > 0)
    limit_memory(std::max<std::int64_t>(free / 2, 1));  // 0 is not a limit
  if (limits.seconds <= 0.0) return;
  time.emplace(std::chrono::milliseconds(static_cast<std::int64_t>(limits.seconds * 1000.0)),
               [seconds = limits.seconds] {
                 CleanupRegistry::instance().undo_all([seconds] {
                   print_error(limit_error(fmt::format(
                       "the {} s of --max-time have passed; nothing was left behind, allow more for this "
                       "model",
                       seconds)));
                   std::_Exit(static_cast<int>(Exit::bad_input));
                 });
               });
}

std::vector<std::string> limit_arguments(const CLI::App& app) {
  std::vector<std::string> arguments;
  for (const char* name : {memory_option, time_option, root_option})
    if (const CLI::Option* option = app.get_option_no_throw(name); option != nullptr && option->count() > 0)
      arguments.insert(arguments.end(), {name, option->results().back()});
  return arguments;
}

}  // namespace driftscope
