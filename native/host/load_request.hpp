// The request that makes a service on this machine load a model, and the bytes that are not sent in the
// message: the service reads them in place, weight by weight. Clients: local runs, the local subjects
// of a bench.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/runtime/target.hpp"
#include "generated/protocol/messages.hpp"
#include "native/host/model_file.hpp"

namespace driftscope {

/// The concatenated sources.
using OutsideParts = std::vector<SharedBytes>;

struct LoadRequest {
  messages::Load head;   ///< with once, outside and unhashed
  OutsideParts outside;  ///< the model and its files

  /// Fills `target` with the external bytes from `offset` on, which must lie inside.
  void read(std::uint64_t offset, std::span<std::byte> target) const;

  /// As ByteSource::in_place: null for bytes of several parts.
  [[nodiscard]] std::shared_ptr<const std::byte> in_place(std::uint64_t offset, std::uint64_t count,
                                                          std::size_t behind) const;
};

[[nodiscard]] LoadRequest load_request(const ModelFile& model, const Target& target);

}  // namespace driftscope
