// The commands of `driftscope`, one file each. A command declares its options on the app and returns
// what to do when it was chosen.
#pragma once

#include <functional>

#include "native/cli/console.hpp"

namespace CLI {
class App;
}

namespace driftscope {

using Command = std::function<Exit()>;

[[nodiscard]] Command add_run(CLI::App& app);
[[nodiscard]] Command add_verify(CLI::App& app);
[[nodiscard]] Command add_compare(CLI::App& app);
[[nodiscard]] Command add_baseline(CLI::App& app);
[[nodiscard]] Command add_bench(CLI::App& app);
[[nodiscard]] Command add_bench_worker(CLI::App& app);
[[nodiscard]] Command add_conformance(CLI::App& app);
[[nodiscard]] Command add_serve(CLI::App& app);
[[nodiscard]] Command add_gui(CLI::App& app);
[[nodiscard]] Command add_doctor(CLI::App& app);
[[nodiscard]] Command add_schema(CLI::App& app);

}  // namespace driftscope
