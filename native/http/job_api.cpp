#include "native/http/job_api.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "core/base/json.hpp"
#include "core/protocol/error_json.hpp"
#include "native/http/compression.hpp"
#include "native/http/send.hpp"

namespace driftscope {
namespace {

using httplib::ContentReader;
using httplib::Request;
using httplib::Response;
using nlohmann::json;

// Shorter than the time after which browsers and httplib consider a connection dead.
constexpr std::chrono::seconds longest_wait_for_a_request{10};

void not_found(Response& response) {
  response.status = 404;
  response.set_content("not found\n", "text/plain");
}

// A stop may have reached the page while its request was in transit.
void send_accepted(Response& response, bool accepted) {
  if (!accepted) response.status = 409;
  send_json(response, encode(messages::Accepted{.stop = !accepted, .next = {}}));
}

// Which job the page runs next, or that there is none, as soon as that is known, or neither.
messages::Accepted what_follows(Job& job) {
  messages::Accepted accepted;
  if (job.content().stays) accepted.next = job.next().next_request(longest_wait_for_a_request);
  accepted.stop = !accepted.next && (!job.content().stays || job.next().closed());
  return accepted;
}

JobProgress progress_of(const messages::Progress& said) {
  return {said.phase, said.done, said.total, said.sample, said.samples, said.prepared, said.to_prepare};
}

/// A parameter of the address; nothing where it is absent or no number.
std::optional<std::int64_t> number_of(const Request& request, const char* name) {
  const std::string text = request.get_param_value(name);
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size() || number < 0)
    return std::nullopt;
  return number;
}

/// All bytes, or `count` of them from `offset` on: for a page on a bad network, which fetches them in pieces.
void send_part(const Request& request, Response& response, const SharedBytes& bytes) {
  const auto offset = number_of(request, "offset");
  const auto count = number_of(request, "count");
  if (!offset || !count) return send_bytes(request, response, bytes);
  const auto begin = std::min(static_cast<std::size_t>(*offset), bytes.size());
  const auto size = std::min(static_cast<std::size_t>(*count), bytes.size() - begin);
  send_content(request, response, {reinterpret_cast<const char*>(bytes.data()) + begin, size}, bytes.owner(),
               "application/octet-stream");
}

/// A body of values, unpacked where the page has packed it. Nothing: it was refused.
std::optional<Bytes> unpacked_values(const Request& request, Response& response, std::optional<Bytes> body) {
  const auto bytes = number_of(request, "unpacked");
  if (!body || !bytes) return body;
  if (static_cast<std::size_t>(*bytes) <= max_values_bytes)
    if (auto plain = unpack_gzip(*body, static_cast<std::size_t>(*bytes)); plain.ok())
      return *std::move(plain);
  response.status = 400;
  response.set_content("expected gzip of as many bytes as 'unpacked' says\n", "text/plain");
  return std::nullopt;
}

json parse_object(const Bytes& body) {
  return parse_json({reinterpret_cast<const char*>(body.data()), body.size()});
}

}  // namespace

std::optional<Bytes> read_body(const ContentReader& reader, std::size_t limit, Response& response) {
  Bytes body;
  bool too_long = false;
  const bool complete = reader([&](const char* data, std::size_t length) {
    if (length > limit - body.size()) {
      too_long = true;
      return false;
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(data);
    body.insert(body.end(), bytes, bytes + length);
    return true;
  });
  if (complete) return body;
  if (too_long || response.status == 413) {
    response.status = 413;
    response.set_content("the body is longer than " + std::to_string(limit) + " bytes\n", "text/plain");
  } else {
    response.status = 400;
  }
  return std::nullopt;
}

void send_bytes(const Request& request, Response& response, const SharedBytes& bytes) {
  send_content(request, response, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, bytes.owner(),
               "application/octet-stream");
}

void add_job_routes(httplib::Server& server, const std::string& prefix, JobBoard& board,
                    std::size_t max_trace_bytes) {
  const std::string job_path = prefix + "/api/jobs/([0-9a-f]{1,64})";
  const auto job_of = [&board](const Request& request) { return board.find(request.matches[1]); };

  server.Get(job_path, [=](const Request& request, Response& response) {
    const auto job = job_of(request);
    if (!job || !job->opened()) return not_found(response);
    response.set_content(job->content().description, "application/json");
  });

  server.Get(job_path + "/(model|inputs)", [=](const Request& request, Response& response) {
    const auto job = job_of(request);
    if (!job) return not_found(response);
    const auto& content = job->content();
    const auto& bytes = request.matches[2] == "model" ? content.model : content.inputs;
    if (!bytes) return not_found(response);
    send_part(request, response, bytes);
  });

  server.Get(job_path + "/attachments/([0-9]{1,6})", [=](const Request& request, Response& response) {
    const auto job = job_of(request);
    const auto index = static_cast<std::size_t>(std::stoul(request.matches[2]));
    if (!job || index >= job->content().attachments.size()) return not_found(response);
    send_part(request, response, job->content().attachments[index]);
  });

  server.Get(job_path + "/request", [=](const Request& request, Response& response) {
    const auto job = job_of(request);
    if (!job || job->long_poll().closed()) return not_found(response);
    const auto next = job->long_poll().next_request(longest_wait_for_a_request);
    if (next) return response.set_content(*next, "application/json");
    response.status = job->long_poll().closed() ? 404 : 204;
  });

  server.Get(job_path + "/next", [=](const Request& request, Response& response) {
    const auto job = job_of(request);
    if (!job) return not_found(response);
    send_json(response, encode(what_follows(*job)));
  });

  server.Post(job_path + "/response",
              [=](const Request& request, Response& response, const ContentReader& reader) {
                const auto job = job_of(request);
                const auto body = read_body(reader, max_answer_bytes, response);
                if (!job) return not_found(response);
                if (!body) return;
                const auto* text = reinterpret_cast<const char*>(body->data());
                send_accepted(response, job->long_poll().respond({text, body->size()}));
              });

  server.Post(job_path + "/values",
              [=](const Request& request, Response& response, const ContentReader& reader) {
                const auto job = job_of(request);
                auto sent = read_body(reader, job ? max_values_bytes : max_message_bytes, response);
                if (!job) return not_found(response);
                const auto body = unpacked_values(request, response, std::move(sent));
                if (body) send_accepted(response, job->values(*body, number_of(request, "piece")));
              });

  server.Post(job_path + "/(progress|error|result)",
              [=](const Request& request, Response& response, const ContentReader& reader) {
                const auto job = job_of(request);
                const bool is_result = request.matches[2] == "result";
                const std::size_t limit = is_result ? max_trace_bytes : max_message_bytes;
                auto body = read_body(reader, job ? limit : max_message_bytes, response);
                if (!job) return not_found(response);
                if (!body) {
                  if (response.status == 413 && is_result)
                    job->fail(limit_error("the trace is larger than " + std::to_string(limit) +
                                          " bytes; capture the outputs only"));
                  return;
                }
                if (is_result) {
                  if (!job->finish(*std::move(body))) return send_accepted(response, false);
                  return send_json(response, encode(what_follows(*job)));
                }
                const json message = parse_object(*body);
                if (!message.is_object()) {
                  response.status = 400;
                  return response.set_content("expected a JSON object\n", "text/plain");
                }
                if (request.matches[2] == "error")
                  return send_accepted(response, job->fail(error_from_json(message)));
                messages::Progress said;
                if (const Status read = decode(message, said); !read.ok()) {
                  response.status = 400;
                  return response.set_content(read.error().message + "\n", "text/plain");
                }
                std::optional<std::chrono::milliseconds> worker_silence;
                if (said.worker_silent_ms) worker_silence = std::chrono::milliseconds(*said.worker_silent_ms);
                send_accepted(response, job->progress(progress_of(said), worker_silence));
              });
}

}  // namespace driftscope
