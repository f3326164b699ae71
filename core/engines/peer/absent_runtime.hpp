// The runtime of a peer that this build lacks: every request to it is an error that says so. Clients: builds
// without it.
#pragma once

#include "core/engines/peer/runtime.hpp"

namespace driftscope::peer {

class AbsentRuntime final : public Runtime {
 public:
  explicit AbsentRuntime(std::string reason) : reason_(std::move(reason)) {}

  [[nodiscard]] Availability available() const override { return {false, reason_}; }
  [[nodiscard]] std::string hides_rewritten() const override { return reason_; }
  [[nodiscard]] std::string lacks(DType /*dtype*/) const override { return reason_; }
  [[nodiscard]] Result<std::unique_ptr<RuntimeModel>> create(
      const CreateRequest& /*request*/) const override {
    return missing_error(reason_);
  }

 private:
  std::string reason_;
};

}  // namespace driftscope::peer
