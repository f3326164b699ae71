// An engine's description of itself: its name, options, guarantees, files. Help, doctor,
// the engine lists of the window and the page, conformance, the checks of a target's options and the error
// model of a trace use it, so that no engine is known by name outside its folder.
// Clients: engine.hpp and everything that lists engines. It runs nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/numerics/error_model.hpp"

namespace driftscope {

/// One option of a target: name=value.
struct EngineOption {
  std::string name;
  std::string help = {};                 ///< one line; empty if the name is clear
  std::vector<std::string> values = {};  ///< allowed values; empty: a whole number from min to max
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::string default_text = {};  ///< the default: one of the values, or in words
  bool version = false;           ///< a version as packages have it, 1.25.1, instead of values or a number
};

enum class EngineKind {
  reference,  ///< defines the correct result
  own,
  peer,  ///< another runtime, to compare with
};

enum class DeviceKind { cpu, gpu };

struct EngineInfo {
  std::string name;     ///< as in a target; lower case letters, digits and "-"
  std::string summary;  ///< one line: "float32, the same bits everywhere"
  /// Position in lists, ascending: 10 the default for comparisons, 20 this project's other
  /// engines, 30 its GPU engines, 40 peers, 90 the reference. Equal places are sorted by name.
  int order = 50;
  EngineKind kind = EngineKind::own;
  DeviceKind device = DeviceKind::cpu;
  bool on_pc = true;  ///< whether PCs in general can run it; for this PC: Engine::available
  bool in_browsers = true;
  bool same_bits_everywhere = false;  ///< on every host, with all options
  ErrorModel error_model = {};        ///< how far rounding may take it from the correct result
  std::vector<EngineOption> options = {};
  /// Help for options whose names contain a dot: they are passed on unchecked. Empty: there are none.
  std::string dotted_options = {};
  /// Files that a browser loads only for this engine, relative to the page's folder: "ort/ort.wasm".
  std::vector<std::string> browser_files = {};
  /// What it needs of a browser and few have: "webnn". The launcher looks for a browser with it
  /// (native/browser/browser_features.hpp). Empty: nothing.
  std::string browser_feature = {};
  /// What it calls in a browser beyond WebAssembly, and some visitors do not have: "WebGPU". Empty: nothing.
  std::string browser_api = {};
};

/// The option that every engine with threads on the CPU has.
[[nodiscard]] EngineOption threads_option();

/// "pc", or a browser.
[[nodiscard]] bool runs_on(const EngineInfo& engine, std::string_view host);

/// Help, a line for each option: "threads=N (default: all processors)".
[[nodiscard]] std::vector<std::string> option_lines(const EngineInfo& engine);

/// Checks that the engine has these options, with these values; the error lists its options.
[[nodiscard]] Status check_options(const EngineInfo& engine,
                                   const std::map<std::string, std::string>& options);

}  // namespace driftscope
