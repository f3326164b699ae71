#include "native/http/hub_client.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <system_error>

#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "native/os/files.hpp"
#include "native/platform/state_folder.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds patience{10};
constexpr int ok = 200;
constexpr int conflict = 409;

Error no_hub(std::string_view why) {
  return missing_error(
      fmt::format("no hub runs here ({}): start one with 'driftscope serve --hub', and open the link "
                  "that it prints on the device",
                  why));
}

template <class Message>
Result<Message> read_answer(const std::string& text) {
  Message message;
  if (const Status read = decode(parse_json(text), message); !read.ok())
    return in_context(read.error(), "the hub's answer");
  return message;
}

}  // namespace

fs::path hub_file() {
  const fs::path folder = state_folder();
  return folder.empty() ? fs::path() : folder / "hub.json";
}

fs::path hub_keys_file() {
  const fs::path folder = state_folder();
  return folder.empty() ? fs::path() : folder / "hub-keys.json";
}

Result<HubClient> HubClient::find() {
  const fs::path path = hub_file();
  std::error_code error;
  if (path.empty()) return no_hub("neither HOME nor XDG_STATE_HOME is set");
  if (!fs::exists(path, error)) return no_hub("there is no " + path.string());
  DRIFTSCOPE_TRY(const auto bytes, read_file(path));
  const auto document = parse_document({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!document.ok()) return in_context(document.error(), path.string());
  documents::Hub hub;
  if (const Status read = read_json(*document, JsonPath(), hub); !read.ok())
    return in_context(read.error(), path.string());
  if (hub.port <= 0 || hub.port > std::numeric_limits<std::uint16_t>::max())
    return bad_input(fmt::format("{}: port: expected 1 to 65535, got {}", path.string(), hub.port));
  return HubClient(std::move(hub));
}

Result<std::string> HubClient::ask(const std::string& path, const std::string* body) const {
  httplib::Client client("127.0.0.1", static_cast<int>(hub_.port));
  client.set_connection_timeout(patience);
  client.set_read_timeout(patience);
  const std::string whole = fmt::format("/{}/api/hub/{}", hub_.token, path);
  const auto answer = body == nullptr ? client.Get(whole) : client.Post(whole, *body, "application/json");
  if (!answer) return no_hub(fmt::format("nothing answers on port {}", hub_.port));
  if (answer->status == ok) return answer->body;
  std::string why = answer->body;
  while (why.ends_with('\n')) why.pop_back();
  if (answer->status == conflict) return limit_error(std::move(why));
  return bad_input(std::move(why));
}

Result<std::vector<messages::HubDevice>> HubClient::devices() const {
  DRIFTSCOPE_TRY(const std::string text, ask("devices", nullptr));
  DRIFTSCOPE_TRY(messages::HubDevices list, read_answer<messages::HubDevices>(text));
  return std::move(list.devices);
}

Result<messages::HubDevice> HubClient::device(std::string_view name) const {
  DRIFTSCOPE_TRY(const auto list, devices());
  const auto found = std::ranges::find(list, name, &messages::HubDevice::name);
  if (found != list.end()) return *found;
  std::vector<std::string_view> names;
  for (const messages::HubDevice& one : list) names.push_back(one.name);
  return missing_error(fmt::format("no device called {} has joined the hub; {}", name,
                                   names.empty()
                                       ? "none has: open its link on the device (driftscope devices --invite)"
                                       : fmt::format("those that have: {}", fmt::join(names, ", "))));
}

Result<messages::HubInvitation> HubClient::invite() const {
  const std::string nothing = "{}";
  DRIFTSCOPE_TRY(const std::string text, ask("invitations", &nothing));
  return read_answer<messages::HubInvitation>(text);
}

Status HubClient::remove(std::string_view name) const {
  const std::string nothing = "{}";
  DRIFTSCOPE_CHECK(ask(fmt::format("devices/{}/remove", name), &nothing));
  return {};
}

Status HubClient::give(std::string_view name, const messages::HubWork& work) const {
  const std::string body = json_text(encode(work));
  DRIFTSCOPE_CHECK(ask(fmt::format("devices/{}/work", name), &body));
  return {};
}

}  // namespace driftscope
