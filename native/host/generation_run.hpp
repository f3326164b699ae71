// A decoder over many steps on several targets, each step recorded and judged. Client: the command generate.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "core/decode/decoder.hpp"
#include "core/runtime/target.hpp"
#include "generated/documents/generate.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

struct GenerationPlan {
  const ModelFile* model = nullptr;
  std::vector<Target> targets;                     ///< the reference first
  std::vector<std::vector<std::int64_t>> prompts;  ///< tokens of each; not empty
  NamedInputs others;                              ///< inputs that decoding does not make
  std::int64_t steps = 16;
  std::vector<std::int64_t> stop_at = {};  ///< the reference choosing one of them ends a sequence
  bool free = false;                       ///< targets also decode from their own tokens
  bool verify = true;
  std::int64_t measured_ms = 300;  ///< of unwatched runs for each time; 0: none
  std::filesystem::path keep;      ///< a folder for the trace of every step; empty: none
};

/// A failure of a target is its `error`; the steps before are kept. Errors: the model is no decoder, a token
/// lies outside the vocabulary, an input is missing, and whatever the reference's runs have.
[[nodiscard]] Result<documents::Generate> run_generation(const GenerationPlan& plan, TargetRunner& runner,
                                                         const TargetProgress& progress);

}  // namespace driftscope
