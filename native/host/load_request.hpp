// What a service on this machine is asked so that it loads a model, and the bytes that do not go through the
// message: the service reads them where they lie, weight by weight. Clients: local runs, the local subjects
// of a bench.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/runtime/target.hpp"
#include "generated/protocol/messages.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

/// One after the other.
using OutsideParts = std::vector<std::shared_ptr<const Bytes>>;

struct LoadRequest {
  messages::Load head;   ///< with once, outside and unhashed
  OutsideParts outside;  ///< the model and its files

  /// Fills `target` with the outside bytes from `offset` on, which must lie inside.
  void read(std::uint64_t offset, std::span<std::byte> target) const;
};

[[nodiscard]] LoadRequest load_request(const ModelFile& model, const Target& target);

}  // namespace driftscope
