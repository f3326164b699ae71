#include "native/cli/commands/store_option.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdlib>

#include "native/campaign/store_kinds.hpp"

namespace driftscope {
namespace {

constexpr const char* store_variable = "DRIFTSCOPE_STORE";

}  // namespace

CLI::Option* add_store_option(CLI::App& app, std::string& store, const std::string& what) {
  return app.add_option(
      "--store", store,
      fmt::format("Keep {} there at once: {} (default: ${}). The same command goes on from there, whatever "
                  "ended it. A database takes many campaigns, of several processes at once",
                  what, store_forms(), store_variable));
}

std::string chosen_store(const std::string& given) {
  const char* const usual = std::getenv(store_variable);
  return given.empty() && usual != nullptr ? usual : given;
}

}  // namespace driftscope
