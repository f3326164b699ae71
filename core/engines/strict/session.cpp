#include "core/engines/strict/session.hpp"

namespace driftscope {

StrictSession::StrictSession(Copy copy, SimdTarget simd, int threads,
                             std::map<std::string, std::string> options)
    : NodeSession(copy.graph),
      own_(std::move(copy.graph)),
      simd_(std::move(simd)),
      threads_asked_(threads),
      options_(std::move(options)),
      threads_(threads),
      nodes_(simd_, threads_) {}

Result<std::vector<Tensor>> StrictSession::run_node(NodeId id, std::span<const Tensor* const> inputs) {
  return nodes_.run(graph().nodes[id], inputs);
}

RanWith StrictSession::ran_with() const {
  RanWith ran;
  ran.engine = "strict";
  ran.instruction_set = simd_.name;
  ran.device = "CPU";
  ran.threads_asked = threads_asked_;
  ran.threads_real = threads_.size();
  ran.options = options_;
  return ran;
}

}  // namespace driftscope
