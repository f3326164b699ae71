// What an engine says of itself: its name, its options, what it promises, the files it needs. Help, doctor,
// the lists of the window and of the page, conformance, the checks of a target's options and the error model
// of a trace come from this, so that nothing outside of an engine's folder knows it by name.
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
  std::string help = {};                 ///< one line; empty where the name says it
  std::vector<std::string> values = {};  ///< what it may be; empty: a whole number from min to max
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::string default_text = {};  ///< what holds without it: one of the values, or in words
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
  /// Place in lists, the smallest first: 10 what one compares with by default, 20 this project's other
  /// engines, 30 its GPU engines, 40 peers, 90 the reference. Equal places are sorted by name.
  int order = 50;
  EngineKind kind = EngineKind::own;
  DeviceKind device = DeviceKind::cpu;
  bool on_pc = true;  ///< whether any PC can run it; whether this one can: Engine::available
  bool in_browsers = true;
  bool same_bits_everywhere = false;  ///< on every host, with all options
  ErrorModel error_model = {};        ///< how far from the correct result rounding may take it
  std::vector<EngineOption> options = {};
  /// Help for options whose names contain a dot: they are passed on unchecked. Empty: there are none.
  std::string dotted_options = {};
  /// Files that a browser loads for this engine alone, below the page's folder: "ort/ort.wasm".
  std::vector<std::string> browser_files = {};
};

/// The option that every engine with threads on the CPU has.
[[nodiscard]] EngineOption threads_option();

/// "pc", or a browser.
[[nodiscard]] bool runs_on(const EngineInfo& engine, std::string_view host);

/// Help, a line for each option: "threads=N (default: all processors)".
[[nodiscard]] std::vector<std::string> option_lines(const EngineInfo& engine);

/// Whether the engine has these options, with these values; the error lists what it has.
[[nodiscard]] Status check_options(const EngineInfo& engine,
                                   const std::map<std::string, std::string>& options);

}  // namespace driftscope
