#include "native/http/hub_api.hpp"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "native/http/job_api.hpp"
#include "native/http/send.hpp"

namespace driftscope {
namespace {

using httplib::ContentReader;
using httplib::Request;
using httplib::Response;
using nlohmann::json;

// What a page waits for takes 10 s at most (job_api), and a result is stored while it waits.
constexpr std::chrono::seconds longest_answer{60};

void refuse(Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_content(why + "\n", "text/plain");
}

/// A document of the body; nothing, and the status set, where it is not one.
template <class Message>
std::optional<Message> read_message(const ContentReader& reader, Response& response) {
  const auto body = read_body(reader, max_message_bytes, response);
  if (!body) return std::nullopt;
  const json object = parse_json({reinterpret_cast<const char*>(body->data()), body->size()});
  Message message;
  if (const Status read = decode(object, message); !read.ok())
    return refuse(response, 400, read.error().message), std::nullopt;
  return message;
}

/// Parameters that jobs know, and nothing else of what a device writes into an address.
std::string query_of(const Request& request) {
  std::string query;
  for (const char* name : {"offset", "count", "piece", "unpacked"}) {
    const std::string value = request.get_param_value(name);
    if (value.empty() || value.size() > 18 || value.find_first_not_of("0123456789") != std::string::npos)
      continue;
    query += (query.empty() ? '?' : '&') + fmt::format("{}={}", name, value);
  }
  return query;
}

std::size_t limit_of(std::string_view part, std::size_t max_trace_bytes) {
  if (part == "/result") return max_trace_bytes;
  if (part == "/values") return max_values_bytes;
  return part == "/response" ? max_answer_bytes : max_message_bytes;
}

/// Requests of each device that wait for an answer. Each takes a thread of two servers, even when the device
/// has hung up; a page has a few at a time.
class Waiting {
 public:
  class Place {
   public:
    Place(Waiting& waiting, std::string device) : waiting_(waiting), device_(std::move(device)) {
      const std::lock_guard lock(waiting_.mutex_);
      int& count = waiting_.counts_[device_];
      taken_ = count < most;
      count += taken_ ? 1 : 0;
    }
    ~Place() {
      const std::lock_guard lock(waiting_.mutex_);
      if (taken_ && --waiting_.counts_[device_] == 0) waiting_.counts_.erase(device_);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    [[nodiscard]] bool taken() const { return taken_; }

   private:
    Waiting& waiting_;
    std::string device_;
    bool taken_ = false;
  };

 private:
  static constexpr int most = 16;
  std::mutex mutex_;
  std::map<std::string, int> counts_;  // guarded by mutex_
};

/// Passes a request on to the server that has the job; the path is put together anew. A program that was
/// killed has not taken its job back.
void pass_on(Hub& hub, Waiting& waiting, const Request& request, const messages::HubWork& work,
             const std::optional<Bytes>& body, Response& response) {
  const Waiting::Place place(waiting, request.matches[1].str());
  if (!place.taken()) return refuse(response, 503, "too many requests at a time");
  httplib::Client client("127.0.0.1", static_cast<int>(work.port));
  client.set_connection_timeout(std::chrono::seconds(2));
  client.set_read_timeout(longest_answer);
  client.set_write_timeout(longest_answer);
  const std::string path =
      fmt::format("/{}/api/jobs/{}{}{}", work.token, work.job, request.matches[3].str(), query_of(request));
  auto answer = body ? client.Post(path, reinterpret_cast<const char*>(body->data()), body->size(),
                                   "application/octet-stream")
                     : client.Get(path);
  if (!answer) {
    if (answer.error() == httplib::Error::Connection) hub.drop(work);
    return refuse(response, 404, "the program that wanted this is gone");
  }
  response.status = answer->status;
  const std::string type = answer->get_header_value("Content-Type");
  response.set_content(answer->body, type.empty() ? "application/octet-stream" : type);
}

/// Whether the program that has given a job still serves it.
bool still_there(const messages::HubWork& work) {
  httplib::Client client("127.0.0.1", static_cast<int>(work.port));
  client.set_connection_timeout(std::chrono::seconds(2));
  client.set_read_timeout(std::chrono::seconds(2));
  const auto answer = client.Get(fmt::format("/{}/api/session", work.token));
  return answer ? answer->status == 200 : answer.error() != httplib::Error::Connection;
}

/// A device that was asleep does not notice that a program was killed.
Status give(Hub& hub, const std::string& name, const messages::HubWork& work) {
  Status given = hub.give(name, work);
  if (given.ok() || given.error().kind != ErrorKind::limit) return given;
  const auto other = hub.given_to(name);
  if (other && still_there(*other)) return given;
  if (other) hub.drop(*other);
  return hub.give(name, work);
}

/// What its owner calls it; empty where the system does not say.
std::string machine_name() {
  constexpr std::size_t longest = 64;
  std::ifstream file("/proc/sys/kernel/hostname");
  std::string name;
  std::getline(file, name);
  return plain_text(name, longest);
}

void add_device_routes(httplib::Server& server, const HubRoutes& routes, Hub& hub) {
  server.Get(routes.devices + "/api/session", [&hub](const Request& request, Response& response) {
    const std::string segment = request.matches[1].str();
    messages::Session session;
    if (hub.is_link(segment))
      session.link_of = machine_name();
    else
      session.device = hub.name_of(segment);
    send_json(response, encode(session));
  });

  server.Post(routes.devices + "/api/hub/join",
              [&hub](const Request& request, Response& response, const ContentReader& reader) {
                const auto said = read_message<messages::HubJoin>(reader, response);
                if (!said) return;
                const auto joined = hub.join(request.matches[1].str(), *said);
                if (!joined.ok())
                  return refuse(response, joined.error().kind == ErrorKind::bad_input ? 400 : 403,
                                joined.error().message);
                response.set_header("Set-Cookie", joined->set_cookie);
                send_json(response, encode(joined->welcome));
              });

  server.Post(routes.devices + "/api/hub/here",
              [&hub](const Request& request, Response& response, const ContentReader& reader) {
                const auto said = read_message<messages::Here>(reader, response);
                if (!said) return;
                const auto welcome = hub.here(request.matches[1].str(), *said);
                if (!welcome.ok()) return refuse(response, 400, welcome.error().message);
                send_json(response, encode(*welcome));
              });

  const std::string job = routes.devices + "/api/jobs/([0-9a-f]{1,64})";
  const auto work_of = [&hub](const Request& request) {
    return hub.work_of(request.matches[1].str(), request.matches[2].str());
  };
  const auto waiting = std::make_shared<Waiting>();
  server.Get(job + "(|/model|/inputs|/attachments/[0-9]{1,6}|/request|/next)",
             [=, &hub](const Request& request, Response& response) {
               const auto work = work_of(request);
               if (!work) return refuse(response, 404, "not found");
               pass_on(hub, *waiting, request, *work, std::nullopt, response);
             });
  server.Post(job + "(/progress|/error|/result|/response|/values)",
              [=, &hub, max_trace = routes.max_trace_bytes](const Request& request, Response& response,
                                                            const ContentReader& reader) {
                const auto work = work_of(request);
                const auto body = read_body(
                    reader, work ? limit_of(request.matches[3].str(), max_trace) : max_message_bytes,
                    response);
                if (!work) return refuse(response, 404, "not found");
                if (body) pass_on(hub, *waiting, request, *work, body, response);
              });
}

void add_owner_routes(httplib::Server& server, const HubRoutes& routes, Hub& hub) {
  server.Get(routes.owner + "/api/hub/devices", [&hub](const Request&, Response& response) {
    send_json(response, encode(messages::HubDevices{.devices = hub.devices()}));
  });
  server.Post(routes.owner + "/api/hub/invitations",
              [&hub, url = routes.url, fingerprint = routes.fingerprint](const Request&, Response& response,
                                                                         const ContentReader& reader) {
                if (!read_body(reader, max_message_bytes, response)) return;
                const auto segment = hub.invite();
                if (!segment.ok()) return refuse(response, 409, segment.error().message);
                messages::HubInvitation link{
                    .url = url(*segment), .seconds = hub.link_life().count(), .fingerprint = {}};
                if (!fingerprint.empty()) link.fingerprint = fingerprint;
                send_json(response, encode(link));
              });
  const std::string device = routes.owner + "/api/hub/devices/([a-z0-9-]{1,64})";
  server.Post(
      device + "/work", [&hub](const Request& request, Response& response, const ContentReader& reader) {
        const auto work = read_message<messages::HubWork>(reader, response);
        if (!work) return;
        if (const Status given = give(hub, request.matches[1].str(), *work); !given.ok())
          return refuse(response, given.error().kind == ErrorKind::limit ? 409 : 404, given.error().message);
        send_json(response, json::object());
      });
  server.Post(device + "/remove",
              [&hub](const Request& request, Response& response, const ContentReader& reader) {
                if (!read_body(reader, max_message_bytes, response)) return;
                if (const Status removed = hub.remove(request.matches[1].str()); !removed.ok())
                  return refuse(response, 404, removed.error().message);
                send_json(response, json::object());
              });
}

}  // namespace

bool is_for_links(std::string_view method, std::string_view below) {
  if (method == "POST") return below == "/api/hub/join";
  if (method != "GET" && method != "HEAD") return false;
  return below == "/api/session" || (!below.starts_with("/api/") && !below.starts_with("/packages/"));
}

void add_hub_routes(httplib::Server& server, const HubRoutes& routes, Hub& hub) {
  add_device_routes(server, routes, hub);
  add_owner_routes(server, routes, hub);
}

}  // namespace driftscope
