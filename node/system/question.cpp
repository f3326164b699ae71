#include "node/system/question.hpp"

#include <cstdlib>
#include <memory>

#include "core/base/json.hpp"
#include "node/system/system.hpp"

namespace driftscope::node {

nlohmann::json ask(const nlohmann::json& question) {
  const std::string json = json_text(question);
  char* answer = nullptr;
  const int failure =
      wait_until_done([&](std::atomic<int>* wake) { ds_process_ask(json.c_str(), &answer, wake); });
  const std::unique_ptr<char, decltype(&std::free)> owned(answer, &std::free);
  if (failure < 0 || answer == nullptr) return nullptr;
  nlohmann::json read = nlohmann::json::parse(answer, nullptr, false);
  return read.is_discarded() ? nlohmann::json() : read;
}

}  // namespace driftscope::node
