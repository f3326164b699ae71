// --store of commands that can go on from kept results. Clients: conformance, compare, batches.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace driftscope {

/// "Keep `what` there at once", with the forms of stores.
CLI::Option* add_store_option(CLI::App& app, std::string& store, const std::string& what);

/// What was given, else $DRIFTSCOPE_STORE, where passwords do not show among the processes; empty: no store.
[[nodiscard]] std::string chosen_store(const std::string& given);

}  // namespace driftscope
