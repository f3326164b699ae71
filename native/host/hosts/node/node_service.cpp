#include "native/host/hosts/node/node_service.hpp"

#include <fmt/format.h>

#include <array>

#include "core/protocol/service.hpp"
#include "native/os/resource_limits.hpp"

namespace driftscope::hosts::node {
namespace {

constexpr std::size_t head_bytes = 8;
constexpr std::uint64_t max_message_bytes = std::uint64_t{1} << 36;

}  // namespace

Result<std::unique_ptr<NodeService>> NodeService::start(const NodeServiceSpec& spec) {
  const std::filesystem::path script = spec.site / "web" / "worker" / "node_service.mjs";
  std::error_code error;
  if (!std::filesystem::is_regular_file(script, error))
    return missing_error(fmt::format("the built page lacks {}; build it with 'cmake --build --preset web'",
                                     script.filename().string()));
  DRIFTSCOPE_TRY(auto process, NodeProcess::start(spec.program, script,
                                                  {spec.site.string(), spec.variant, spec.threads,
                                                   std::to_string(asked_memory())},
                                                  "node"));
  return std::unique_ptr<NodeService>(new NodeService(std::move(process), spec.patience));
}

Result<ServiceTransport::Response> NodeService::exchange(const std::string& json,
                                                         std::span<const std::byte> payload) {
  if (!process_->alive()) return missing_error("node: its Node process has ended");
  const std::vector<std::byte> message = pack_message(json, payload);
  const std::uint64_t size = message.size();
  std::array<std::byte, head_bytes> head{};
  for (std::size_t i = 0; i < head_bytes; ++i) head[i] = static_cast<std::byte>(size >> (8 * i));
  DRIFTSCOPE_CHECK(process_->write_all(head));
  DRIFTSCOPE_CHECK(process_->write_all(message));
  DRIFTSCOPE_CHECK(process_->read_all(head, patience_));
  std::uint64_t answer_bytes = 0;
  for (std::size_t i = 0; i < head_bytes; ++i) answer_bytes |= static_cast<std::uint64_t>(head[i]) << (8 * i);
  if (answer_bytes > max_message_bytes) {
    process_->end();
    return internal_error("node: its Node process sent no message");
  }
  std::vector<std::byte> answer(answer_bytes);
  DRIFTSCOPE_CHECK(process_->read_all(answer, patience_));
  Message unpacked = unpack_message(answer);
  return Response{std::move(unpacked.json), {unpacked.payload.begin(), unpacked.payload.end()}};
}

}  // namespace driftscope::hosts::node
