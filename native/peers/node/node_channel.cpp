#include "native/peers/node/node_channel.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/json.hpp"
#include "native/os/log_tail.hpp"

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

NodeChannel::NodeChannel(TempFolder folder, std::string title)
    : folder_(std::move(folder)), title_(std::move(title)) {}

NodeChannel::~NodeChannel() { end(); }

Result<std::shared_ptr<NodeChannel>> NodeChannel::start(const std::filesystem::path& program,
                                                        const std::filesystem::path& site,
                                                        std::string title) {
  DRIFTSCOPE_TRY(TempFolder folder, TempFolder::make());
  std::shared_ptr<NodeChannel> channel(new NodeChannel(std::move(folder), std::move(title)));
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return io_error(fmt::format("cannot make a socket for {}: {}", channel->title_, std::strerror(errno)));
  channel->socket_ = ends[0];
  ProcessSpec spec;
  // Node 20 has relaxed SIMD, which some runtimes' builds need, only behind this flag.
  spec.arguments = {program.string(), "--experimental-wasm-relaxed-simd",
                    (site / "web" / "peers" / "node_host.mjs").string(), site.string()};
  spec.environment = {{"NODE_OPTIONS", ""}};
  spec.output = channel->folder_.path() / "node.log";
  spec.pass_fd = ends[1];
  spec.passed_as = 3;
  auto process = ChildProcess::start(spec);
  close(ends[1]);
  if (!process.ok()) return std::move(process).error();
  channel->process_.emplace(*std::move(process));
  return channel;
}

void NodeChannel::end() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (process_) process_->end(200);
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

Error NodeChannel::gone() {
  const bool ran = process_ && !process_->wait(500);
  const std::string how = ran ? "closed its connection" : fmt::format("ended ({})", process_->exit_text());
  ended_ = {ErrorKind::unsupported, fmt::format("{}: its Node process {}; its last output: {}", title_, how,
                                                log_tail(folder_.path() / "node.log"))};
  end();
  return ended_;
}

Status NodeChannel::write_all(std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t done = ::send(socket_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return gone();
    at += static_cast<std::size_t>(done);
  }
  return {};
}

Status NodeChannel::read_all(std::span<std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t done = recv(socket_, bytes.data() + at, bytes.size() - at, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return gone();
    at += static_cast<std::size_t>(done);
  }
  return {};
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
  if (socket_ < 0) return ended_;
  const std::string what = request.value("do", "");
  if (working_) {
    // It may not listen for as long as it works.
    if (what == "look") return json{{"busy", true}};
    if (what == "release") {
      ended_ = {ErrorKind::unsupported,
                fmt::format("{}: its Node process was killed while it worked", title_)};
      end();
    }
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

bool NodeChannel::has_arrived(int milliseconds) const {
  pollfd waited{socket_, POLLIN, 0};
  return ::poll(&waited, 1, milliseconds) > 0;
}

bool NodeChannel::wait() {
  if (socket_ < 0 || !working_ || !has_arrived(longest_wait_ms)) return true;
  working_ = false;  // it says "settled", or it has died: the next request shows which
  (void)receive();
  return true;
}

std::optional<MemorySample> NodeChannel::memory() const {
  if (!alive()) return std::nullopt;
  return MemorySample{sample_memory().bytes + total_pss(find_processes(process_->mark(), false)),
                      "process_tree_pss"};
}

}  // namespace driftscope::node
