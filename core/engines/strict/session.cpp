#include "core/engines/strict/session.hpp"

#include <fmt/format.h>

#include <new>

#include "core/graph/legacy.hpp"
#include "core/ops/evaluate.hpp"

namespace driftscope {
namespace {

std::string label(const Node& node) {
  return fmt::format("node {} ({})", node.name, node.op_type);
}

// Every allocation of a kernel ends here when there is no memory: nothing is thrown further.
template <class Body>
auto within_memory(const Node& node, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return limit_error(label(node) +
                       ": out of memory. A smaller batch or fewer threads need less.");
  }
}

}  // namespace

StrictSession::StrictSession(std::shared_ptr<const Graph> graph, SimdTarget simd, int threads,
                             std::map<std::string, std::string> options)
    : NodeSession(std::move(graph)),
      simd_(std::move(simd)),
      threads_asked_(threads),
      options_(std::move(options)),
      threads_(threads),
      kernels_(this->graph().nodes.size()) {}

Status StrictSession::prepare() {
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const Node& node = graph().nodes[i];
    const PrepareStrictKernel make = strict_kernels().find(node.domain, node.op_type);
    if (make == nullptr || node.attribute(broadcast_axis) != nullptr) continue;
    DRIFTSCOPE_CHECK(within_memory(node, [&]() -> Status {
      kernels_[i] = make({graph(), node, simd_, threads_});
      return {};
    }));
  }
  return {};
}

Result<std::vector<Tensor>> StrictSession::run_node(NodeId id,
                                                    std::span<const Tensor* const> inputs) {
  const Node& node = graph().nodes[id];
  return within_memory(node, [&]() -> Result<std::vector<Tensor>> {
    if (kernels_[id]) {
      auto outputs = kernels_[id]->run(inputs);
      if (!outputs) return in_context(std::move(outputs).error(), label(node));
      return outputs;
    }
    return evaluate_strict(node, inputs, threads_);
  });
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
