#include "core/protocol/batch.hpp"

#include <fmt/format.h>

#include "core/base/json.hpp"
#include "core/protocol/error_message.hpp"
#include "core/protocol/service.hpp"
#include "core/trace/trace_file.hpp"
#include "generated/protocol/messages.hpp"

namespace driftscope {
namespace {

Result<Trace> unpack_answer(const messages::BatchAnswer& answer, std::span<const std::byte>& payload) {
  if (answer.error) return error_of(*answer.error);
  if (!answer.trace) return internal_error("the answer contains neither a trace nor an error");
  const auto bytes = static_cast<std::uint64_t>(*answer.trace);
  if (bytes > payload.size())
    return internal_error(
        fmt::format("the trace has {} bytes, the message only {} more", bytes, payload.size()));
  const auto trace = payload.first(static_cast<std::size_t>(bytes));
  payload = payload.subspan(trace.size());
  return read_trace(trace);
}

}  // namespace

std::vector<std::byte> pack_batch(std::span<const BatchCase> cases) {
  messages::Batch head;
  std::vector<std::byte> payload;
  const auto append = [&](std::span<const std::byte> bytes) {
    payload.insert(payload.end(), bytes.begin(), bytes.end());
    return static_cast<std::int64_t>(bytes.size());
  };
  for (const BatchCase& one : cases) {
    messages::BatchCase& made = head.cases.emplace_back();
    made.model = append(one.model);
    for (const BatchAttachment& file : one.attachments)
      made.attachments.push_back({file.name, append(file.bytes)});
    made.inputs = append(one.inputs);
  }
  return pack_message(json_text(encode(head)), payload);
}

Result<std::vector<Result<Trace>>> unpack_answers(std::span<const std::byte> message, std::size_t cases) {
  const Message unpacked = unpack_message(message);
  messages::BatchAnswers head;
  if (const Status read = decode(parse_json(unpacked.json), head); !read.ok())
    return internal_error(
        fmt::format("the answers to a batch of {} cases are malformed: {}", cases, read.error().message));
  if (head.cases.size() != cases)
    return internal_error(fmt::format("{} answers came to a batch of {} cases", head.cases.size(), cases));
  std::span<const std::byte> payload = unpacked.payload;
  std::vector<Result<Trace>> answers;
  for (const messages::BatchAnswer& answer : head.cases) answers.push_back(unpack_answer(answer, payload));
  return answers;
}

}  // namespace driftscope
