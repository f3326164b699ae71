#include "native/http/server.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/json.hpp"
#include "core/runtime/engine.hpp"
#include "generated/protocol/messages.hpp"
#include "native/http/guard.hpp"
#include "native/http/hub_api.hpp"
#include "native/http/job_api.hpp"
#include "native/http/limited_server.hpp"
#include "native/http/loopback.hpp"
#include "native/http/one_visit.hpp"
#include "native/http/pc_runs.hpp"
#include "native/http/send.hpp"
#include "native/http/static_files.hpp"
#include "native/http/wall_routes.hpp"
#include "native/os/token.hpp"

namespace driftscope {
namespace {

using httplib::ContentReader;
using httplib::Request;
using httplib::Response;

/// Names do not depend on contents, so a browser caches files but revalidates before using one again.
void send_file(const Request& request, Response& response, const StaticFile& file) {
  response.headers.erase("Cache-Control");
  response.set_header("Cache-Control", "private, no-cache");
  response.set_header("ETag", file.etag);
  if (file.varies) response.set_header("Vary", "Accept-Encoding");
  if (names_etag(request.get_header_value("If-None-Match"), file.etag)) {
    response.status = 304;
    return;
  }
  if (file.coding != Coding::identity)
    response.set_header("Content-Encoding", std::string(coding_name(file.coding)));
  send_content(request, response, *file.content, file.content, file.content_type);
}

/// Whether a file is listed by an engine as loaded by browsers.
bool is_engine_file(std::string_view path) {
  return std::ranges::any_of(engines(), [&](const auto& engine) {
    return std::ranges::any_of(engine->info().browser_files,
                               [&](const std::string& file) { return path == "/" + file; });
  });
}

// Of any device: those that are none were rejected.
constexpr const char* device_segment = "[0-9a-f]{48}";

}  // namespace

struct Server::State {
  explicit State(ServerOptions given) : options(std::move(given)), files(options.site) {}

  void add_routes();
  [[nodiscard]] std::optional<StaticFile> package_file(std::string_view path);
  [[nodiscard]] std::optional<Rejection> admit(const Request& request, Response& response);
  [[nodiscard]] std::optional<Rejection> admit_device(const Request& request) const;
  void add_page_routes(const std::string& prefix);
  void count(std::string_view path, std::size_t sent, std::size_t raw);
  Status listen();

  ServerOptions options;
  StaticFiles files;
  std::mutex packages_mutex;
  std::unique_ptr<StaticFiles> packages;  // made when the first is asked for: the folder may appear later
  Address address;
  std::optional<OneVisit> visit;
  JobBoard jobs;
  PcRuns pc_runs;
  std::mutex trace_mutex;  // on_trace is called by one thread at a time
  mutable std::mutex traffic_mutex;
  Traffic traffic;
  LimitedServer http;
  std::thread thread;
};

void Server::State::count(std::string_view path, std::size_t sent, std::size_t raw) {
  const std::lock_guard lock(traffic_mutex);
  traffic.bytes += static_cast<std::int64_t>(sent);
  traffic.raw_bytes += static_cast<std::int64_t>(raw);
  if (path.starts_with("/engine/") || is_engine_file(path)) {
    traffic.engine_bytes += static_cast<std::int64_t>(sent);
    traffic.engine_raw_bytes += static_cast<std::int64_t>(raw);
  }
  if (path.starts_with("/api/")) traffic.job_bytes += static_cast<std::int64_t>(sent);
}

// As they are: they come once, and compressing takes longer than sending within one machine.
std::optional<StaticFile> Server::State::package_file(std::string_view path) {
  if (options.packages.empty()) return std::nullopt;
  const std::lock_guard lock(packages_mutex);
  std::error_code error;
  if (!packages && std::filesystem::is_directory(options.packages, error))
    packages = std::make_unique<StaticFiles>(options.packages);
  return packages ? packages->read(path, Coding::identity) : std::nullopt;
}

std::optional<Rejection> Server::State::admit(const Request& request, Response& response) {
  if (auto rejection = reject(facts_of(request), address)) return rejection;
  if (options.hub != nullptr && options.hub->knows(first_segment(request.path))) return admit_device(request);
  if (!visit || first_segment(request.path) != visit->segment()) return std::nullopt;
  const bool opens = request.method == "GET" && below_token(request.path) == "/";
  const auto answer = visit->ask(opens, headers_of(request, "Cookie"));
  if (answer == OneVisit::Answer::first) response.set_header("Set-Cookie", visit->set_cookie());
  if (answer != OneVisit::Answer::refused) return std::nullopt;
  return Rejection{403,
                   "This address was for one visit. Open the one that driftscope serve has printed, or start "
                   "it again with --open."};
}

std::optional<Rejection> Server::State::admit_device(const Request& request) const {
  switch (options.hub->admit(first_segment(request.path), headers_of(request, "Cookie"))) {
    case Hub::Answer::known: return std::nullopt;
    case Hub::Answer::stranger: return Rejection{404, "not found"};
    case Hub::Answer::invited:
      if (is_for_links(request.method, below_token(request.path))) return std::nullopt;
      return Rejection{403, "This browser has not joined yet: open the link and press Join."};
    case Hub::Answer::refused: break;
  }
  return Rejection{403,
                   "This link was for another browser, or is too old. Ask for a new one: driftscope devices "
                   "--invite."};
}

void Server::State::add_routes() {
  httplib::Headers headers;
  for (const auto& [name, value] : security_headers()) headers.emplace(name, value);
  http.set_default_headers(headers);
  http.set_pre_routing_handler([this](const Request& request, Response& response) {
    const auto rejection = admit(request, response);
    if (!rejection) return httplib::Server::HandlerResponse::Unhandled;
    response.status = rejection->status;
    response.set_content(rejection->reason + "\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  });
  http.set_logger([this](const Request& request, const Response& response) {
    const std::string_view path = below_token(request.path);
    const std::size_t sent = std::max(response.body.size(), response.content_length_);
    std::size_t raw = sent;
    if (sent > 0 && response.has_header("Content-Encoding"))
      if (const auto file = files.read(path, Coding::identity)) raw = file->content->size();
    count(path, sent, raw);
  });
  http.set_error_handler([](const Request&, Response& response) {
    if (response.body.empty()) response.set_content("not found\n", "text/plain");
  });
  http.set_exception_handler([](const Request&, Response& response, const std::exception_ptr&) {
    response.status = 500;
    response.set_content("internal error\n", "text/plain");
  });

  // A pattern, which captures nothing.
  const std::string prefix = "/(?:" + address.token + (visit ? "|" + visit->segment() : "") + ")";
  add_job_routes(http, prefix, jobs, options.max_trace_bytes);

  http.Get(prefix + "/api/session", [this](const Request&, Response& response) {
    const messages::Session session{.accepts_traces = static_cast<bool>(options.on_trace),
                                    .pc_targets = options.pc_targets,
                                    .device = {},
                                    .link_of = {}};
    response.set_content(json_text(encode(session)), "application/json");
  });
  http.Post(prefix + "/api/traces", [this](const Request&, Response& response, const ContentReader& reader) {
    auto body = read_body(reader, options.on_trace ? options.max_trace_bytes : 0, response);
    if (!body) return;
    const std::lock_guard lock(trace_mutex);
    const auto saved = options.on_trace ? options.on_trace(*std::move(body))
                                        : Result<std::string>(bad_input("no traces wanted"));
    response.status = saved.ok() ? 200 : 400;
    messages::KeptTrace answer;
    if (saved.ok())
      answer.saved = saved.value();
    else
      answer.error = saved.error().message;
    response.set_content(json_text(encode(answer)), "application/json");
  });

  http.Post(prefix + "/api/pc", [this](const Request& request, Response& response,
                                       const ContentReader& reader) {
    const auto body = read_body(reader, options.pc_targets.empty() ? 0 : options.max_trace_bytes, response);
    if (!body) return;
    constexpr std::size_t longest_name = 64;
    const std::string run = request.get_param_value("run").substr(0, longest_name);
    send_bytes(request, response, std::make_shared<const Bytes>(pc_runs.exchange(run, *body)));
  });

  // Before those of devices, whose keys look like tokens.
  if (options.wall != nullptr) add_wall_routes(http, prefix, *options.wall);
  if (options.hub != nullptr) {
    const HubRoutes routes = {.devices = std::string("/(") + device_segment + ")",
                              .owner = "/" + address.token,
                              .url = [this](std::string_view segment) { return address.url_of(segment); },
                              .fingerprint = options.fingerprint,
                              .max_trace_bytes = options.max_trace_bytes};
    add_hub_routes(http, routes, *options.hub);
    add_page_routes(std::string("/(?:") + device_segment + ")");
  }
  add_page_routes(prefix);
}

void Server::State::add_page_routes(const std::string& prefix) {
  http.Get(prefix, [](const Request& request, Response& response) {
    std::string query;  // the job's name must survive
    if (const auto mark = request.target.find('?'); mark != std::string::npos)
      query = request.target.substr(mark);
    response.set_redirect(request.path + "/" + query, 308);
  });
  http.Get(prefix + "/packages/.*", [this](const Request& request, Response& response) {
    constexpr std::string_view folder = "/packages";
    const auto file = package_file(below_token(request.path).substr(folder.size()));
    if (file) return send_file(request, response, *file);
    response.status = 404;
    response.set_content("not found\n", "text/plain");
  });
  http.Get(prefix + "/.*", [this](const Request& request, Response& response) {
    // Ranges refer to the uncompressed file: a part of a compressed one would be useless.
    const Coding wanted = request.has_header("Range")
                              ? Coding::identity
                              : best_coding(request.get_header_value("Accept-Encoding"));
    const auto file = files.read(below_token(request.path), wanted);
    if (!file) {
      response.status = 404;
      return response.set_content("not found\n", "text/plain");
    }
    send_file(request, response, *file);
  });
}

Status Server::State::listen() {
  http.set_payload_max_length(options.max_trace_bytes);
  DRIFTSCOPE_TRY(address.port, bind_to_loopback(http, options.port));
  address.public_origin = options.public_origin;
  address.front_origins = options.front_origins;
  if (options.hub != nullptr)
    address.others = [this](std::string_view segment) { return options.hub->knows(segment); };
  add_routes();
  DRIFTSCOPE_TRY(thread, listen_on_thread(http));
  return {};
}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options) {
  if (options.port < 0 || options.port > 65535)
    return bad_input("--port: expected 0 to 65535, got " + std::to_string(options.port));
  auto state = std::make_unique<State>(std::move(options));
  if (!state->files.read("/", Coding::identity))
    return missing_error("the site folder '" + state->options.site.string() + "' holds no index.html");
  DRIFTSCOPE_TRY(state->address.token, random_token());
  if (state->options.one_visit) {
    DRIFTSCOPE_TRY(OneVisit visit, OneVisit::make());
    state->address.visit = visit.segment();
    state->visit.emplace(std::move(visit));
  }
  DRIFTSCOPE_CHECK(state->listen());
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() {
  state_->http.stop_all();
  if (state_->thread.joinable()) state_->thread.join();
}

int Server::port() const { return state_->address.port; }
std::string Server::url() const { return state_->address.url(); }
std::string Server::visit_url() const {
  Address other = state_->address;
  other.token = other.visit;
  return other.visit.empty() ? std::string() : other.url();
}
std::string Server::hub_url(std::string_view segment) const { return state_->address.url_of(segment); }
std::string Server::token() const { return state_->address.token; }
std::string Server::job_url(const Job& job) const { return url() + "?job=" + job.id(); }
JobBoard& Server::jobs() { return state_->jobs; }

void Server::answer(int socket) { state_->http.answer(socket); }

Traffic Server::traffic() const {
  const std::lock_guard lock(state_->traffic_mutex);
  return state_->traffic;
}

}  // namespace driftscope
