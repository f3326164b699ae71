// The options of the engine ort. Client: its engine.cpp.
#pragma once

#include "core/engines/ort/backend.hpp"

namespace driftscope::ort {

struct Options {
  Optimization optimization = Optimization::all;
  int threads = 1;
  std::map<std::string, std::string> config;  ///< as CreateRequest has it
};

/// What the engine says of them.
[[nodiscard]] std::vector<EngineOption> option_list();
/// Of checked options.
[[nodiscard]] Options read_options(const EngineOptions& given);
[[nodiscard]] std::string_view optimization_name(Optimization optimization);

}  // namespace driftscope::ort
