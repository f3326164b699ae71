#include "core/protocol/batch.hpp"

#include <fmt/format.h>

#include "core/base/json.hpp"
#include "core/protocol/error_json.hpp"
#include "core/protocol/service.hpp"
#include "core/trace/trace_file.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

Result<Trace> unpack_answer(const json& answer, std::span<const std::byte>& payload) {
  if (!answer.is_object()) return internal_error("the answer is no object");
  if (const auto error = answer.find("error"); error != answer.end()) return error_from_json(*error);
  const auto size = answer.find("trace");
  if (size == answer.end() || !size->is_number_unsigned())
    return internal_error("the answer holds neither a trace nor an error");
  const auto bytes = size->get<std::uint64_t>();
  if (bytes > payload.size())
    return internal_error(
        fmt::format("the trace has {} bytes, the message only {} more", bytes, payload.size()));
  const auto trace = payload.first(static_cast<std::size_t>(bytes));
  payload = payload.subspan(trace.size());
  return read_trace(trace);
}

}  // namespace

std::vector<std::byte> pack_batch(std::span<const BatchCase> cases) {
  json list = json::array();
  std::vector<std::byte> payload;
  const auto append = [&](std::span<const std::byte> bytes) {
    payload.insert(payload.end(), bytes.begin(), bytes.end());
  };
  for (const BatchCase& one : cases) {
    json attachments = json::array();
    append(one.model);
    for (const BatchAttachment& file : one.attachments) {
      attachments.push_back({{"name", file.name}, {"bytes", file.bytes.size()}});
      append(file.bytes);
    }
    append(one.inputs);
    list.push_back(
        {{"model", one.model.size()}, {"attachments", attachments}, {"inputs", one.inputs.size()}});
  }
  return pack_message(json_text(json{{"cases", list}}), payload);
}

Result<std::vector<Result<Trace>>> unpack_answers(std::span<const std::byte> message, std::size_t cases) {
  const Message unpacked = unpack_message(message);
  const json head = parse_json(unpacked.json);
  const auto list = head.is_object() ? head.find("cases") : head.end();
  if (!head.is_object() || list == head.end() || !list->is_array() || list->size() != cases)
    return internal_error(fmt::format("the answers to a batch of {} cases are malformed", cases));
  std::span<const std::byte> payload = unpacked.payload;
  std::vector<Result<Trace>> answers;
  for (const json& answer : *list) answers.push_back(unpack_answer(answer, payload));
  return answers;
}

}  // namespace driftscope
