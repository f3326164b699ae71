// Of memory this program has what WebAssembly gives: the tensors' own limit is the only one.
#include "native/os/resource_limits.hpp"

#include <atomic>
#include <utility>

#include "core/model/alive_tensors.hpp"
#include "node/system/question.hpp"

namespace driftscope {
namespace {

std::atomic<std::int64_t> asked_bytes = 0;

}  // namespace

std::int64_t available_memory() {
  const nlohmann::json machine = node::ask({{"do", "machine"}});
  return machine.is_object() ? machine.value("free", std::int64_t{0}) : 0;
}

void limit_memory(std::int64_t bytes) { limit_alive_tensors(bytes, "--max-memory"); }

void limit_memory_as_asked(std::int64_t bytes) {
  asked_bytes = bytes;
  limit_memory(bytes);
}

std::int64_t asked_memory() { return asked_bytes; }

}  // namespace driftscope
