#include "native/peers/node/node_channel.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "core/base/json.hpp"
#include "native/platform/cache_folder.hpp"

namespace driftscope::node {
namespace {

using nlohmann::json;

constexpr std::size_t head_bytes = 12;
// Bytes of one message's JSON, and of its payload: more is not a message.
constexpr std::uint64_t max_json_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t max_payload_bytes = std::uint64_t{1} << 36;
constexpr int longest_wait_ms = 100;

template <class Word>
void put_word(std::vector<std::byte>& to, Word word) {
  for (std::size_t i = 0; i < sizeof(Word); ++i) to.push_back(static_cast<std::byte>(word >> (8 * i)));
}

template <class Word>
Word get_word(std::span<const std::byte> from) {
  Word word = 0;
  for (std::size_t i = 0; i < sizeof(Word); ++i) word |= static_cast<Word>(from[i]) << (8 * i);
  return word;
}

}  // namespace

Result<std::shared_ptr<NodeChannel>> NodeChannel::start(const std::filesystem::path& program,
                                                        const std::filesystem::path& site,
                                                        std::string title) {
  DRIFTSCOPE_TRY(auto process, NodeProcess::start(program, site / "web" / "peers" / "node_host.mjs",
                                                  {site.string(), package_cache().string()}, title));
  return std::shared_ptr<NodeChannel>(new NodeChannel(std::move(process), std::move(title)));
}

json NodeChannel::place(peer::Parcel& parcel, std::span<const std::byte> bytes) {
  json placed = {{"at", parcel.sent_bytes}, {"bytes", bytes.size()}};
  // Typed arrays of the other end begin at multiples of their elements' size.
  constexpr std::uint64_t alignment = 16;
  parcel.sent.push_back(bytes);
  parcel.sent_bytes += (bytes.size() + alignment - 1) / alignment * alignment;
  return placed;
}

json NodeChannel::place_for_reply(peer::Parcel& parcel, std::span<std::byte> bytes) {
  json placed = {{"from_reply", parcel.filled_bytes}, {"bytes", bytes.size()}};
  parcel.filled.push_back(bytes);
  parcel.filled_bytes += bytes.size();
  return placed;
}

Error NodeChannel::ended(Error why) {
  ended_ = {ErrorKind::unsupported, std::move(why.message)};
  process_.reset();
  return ended_;
}

Status NodeChannel::write_all(std::span<const std::byte> bytes) {
  Status written = process_->write_all(bytes);
  return written.ok() ? written : ended(std::move(written).error());
}

Status NodeChannel::read_all(std::span<std::byte> bytes) {
  Status read = process_->read_all(bytes);
  return read.ok() ? read : ended(std::move(read).error());
}

Status NodeChannel::send(const std::string& text, const peer::Parcel& parcel) {
  std::vector<std::byte> head;
  put_word(head, static_cast<std::uint32_t>(text.size()));
  put_word(head, parcel.sent_bytes);
  const auto chars = std::as_bytes(std::span(text));
  head.insert(head.end(), chars.begin(), chars.end());
  DRIFTSCOPE_CHECK(write_all(head));
  constexpr std::array<std::byte, 16> zeros{};
  for (const auto& bytes : parcel.sent) {
    DRIFTSCOPE_CHECK(write_all(bytes));
    DRIFTSCOPE_CHECK(write_all(std::span(zeros).first((16 - bytes.size() % 16) % 16)));
  }
  return {};
}

Result<NodeChannel::Received> NodeChannel::receive() {
  std::array<std::byte, head_bytes> head{};
  DRIFTSCOPE_CHECK(read_all(head));
  const std::uint64_t json_bytes = get_word<std::uint32_t>(std::span(head).first(4));
  const auto payload_bytes = get_word<std::uint64_t>(std::span(head).subspan(4));
  if (json_bytes > max_json_bytes || payload_bytes > max_payload_bytes)
    return internal_error(fmt::format("{}: its Node process sent no message", title_));
  std::string text(json_bytes, '\0');
  DRIFTSCOPE_CHECK(read_all(std::as_writable_bytes(std::span(text))));
  Received received;
  received.head = parse_json(text);
  received.payload.resize(payload_bytes);
  DRIFTSCOPE_CHECK(read_all(received.payload));
  if (!received.head.is_object())
    return internal_error(fmt::format("{}: its Node process sent no message", title_));
  return received;
}

Result<json> NodeChannel::ask(json request, const peer::Parcel& parcel) {
  if (!process_) return ended_;
  const std::string what = request.value("do", "");
  if (working_) {
    // It may not listen for as long as it works.
    if (what == "look") return json{{"busy", true}};
    if (what == "release")
      (void)ended(missing_error(fmt::format("{}: its Node process was killed while it worked", title_)));
    return json{{"bytes", nullptr}};
  }
  request["reply_at"] = parcel.sent_bytes;
  request["reply_bytes"] = parcel.filled_bytes;
  if (request.contains("to"))
    for (json& place : request["to"])
      place["at"] = parcel.sent_bytes + place["from_reply"].get<std::uint64_t>();
  DRIFTSCOPE_CHECK(send(json_text(request), parcel));
  DRIFTSCOPE_TRY(Received received, receive());
  working_ = received.head.value("working", false);
  if (received.payload.size() != parcel.filled_bytes)
    return internal_error(
        fmt::format("{}: {} bytes came for {}", title_, received.payload.size(), parcel.filled_bytes));
  std::size_t at = 0;
  for (const auto& bytes : parcel.filled) {
    std::memcpy(bytes.data(), received.payload.data() + at, bytes.size());
    at += bytes.size();
  }
  return std::move(received.head);
}

bool NodeChannel::wait() {
  if (!process_ || !working_ || !process_->has_arrived(longest_wait_ms)) return true;
  working_ = false;  // it says "settled", or it has died: the next request shows which
  (void)receive();
  return true;
}

std::optional<MemorySample> NodeChannel::memory() const {
  if (!alive()) return std::nullopt;
  return MemorySample{sample_memory().bytes + process_->memory(), "process_tree_pss"};
}

}  // namespace driftscope::node
