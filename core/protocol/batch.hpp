// Many small runs in one message: models with their inputs to a browser, traces or errors back.
// Clients: run_in_browser (packs, unpacks), web/worker/worker.mjs (the other side), tests.
// The documents "batch" and "batch_answers" of messages.json, packed as the service's messages: with, for
// each case, the model's bytes, those of its attachments, its inputs as safetensors; with the traces.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

struct BatchAttachment {
  std::string name;  ///< as the model names it
  std::span<const std::byte> bytes;
};

struct BatchCase {
  std::span<const std::byte> model;
  std::vector<BatchAttachment> attachments;
  std::vector<std::byte> inputs;  ///< safetensors
};

[[nodiscard]] std::vector<std::byte> pack_batch(std::span<const BatchCase> cases);

/// One answer per case, in order; the number of them is checked. A malformed message is an error, a
/// malformed trace the error of its case.
[[nodiscard]] Result<std::vector<Result<Trace>>> unpack_answers(std::span<const std::byte> message,
                                                                std::size_t cases);

}  // namespace driftscope
