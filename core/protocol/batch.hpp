// Many small runs in one message: models with their inputs to a browser, traces or errors back.
// Clients: run_in_browser (packs, unpacks), web/worker/worker.mjs (the other side), tests.
// The documents "batch" and "batch_answers" of messages.json, packed like the service's messages: with
// each case's model and attachments as bytes and inputs as safetensors, and with the traces, respectively.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

struct BatchAttachment {
  std::string name;  ///< as named in the model
  std::span<const std::byte> bytes;
};

struct BatchCase {
  std::span<const std::byte> model;
  std::vector<BatchAttachment> attachments;
  std::vector<std::byte> inputs;  ///< safetensors
};

[[nodiscard]] std::vector<std::byte> pack_batch(std::span<const BatchCase> cases);

/// One response per case, in order; their number is checked. A malformed message is an error, a
/// malformed trace the error of its case.
[[nodiscard]] Result<std::vector<Result<Trace>>> unpack_answers(std::span<const std::byte> message,
                                                                std::size_t cases);

}  // namespace driftscope
