// The HTTP server: the page, the shipped models and the jobs, on the loopback interface only.
// Clients: run_in_browser, serve, tests. One server serves any number of browsers and jobs.
// It starts no browser and opens no window.
//
// Below the token:
//   GET  /…                        a file of the site folder
//   GET  /packages/…               a file of a fetched package
// (documents of core/protocol/messages.json in quotes)
//   GET  /api/session              "session"
//   POST /api/traces               a trace made by hand on the page → "kept_trace"
//   GET  /wall/…                   stored comparisons, with ServerOptions::wall (wall_routes.hpp)
//   POST /api/pc?run=NAME          a message of the service, for a run here or on a device → its response
//   GET  /api/targets              "offered_targets": the devices, with ServerOptions::begin_elsewhere
//   GET  /api/jobs/ID              "job"
//   GET  /api/jobs/ID/model        its .onnx bytes
//   GET  /api/jobs/ID/attachments/N
//   GET  /api/jobs/ID/inputs       safetensors; of these three, ?offset=N&count=N is a part
//   POST /api/jobs/ID/progress     "progress" → "accepted"
//   POST /api/jobs/ID/values       "values", one request at a time; ?piece=N may be sent again,
//                                  &unpacked=BYTES is packed by gzip
//   POST /api/jobs/ID/result       trace bytes → "accepted", with the page's next job
//   POST /api/jobs/ID/error        an object "error"
//   GET  /api/jobs/ID/request      of a page that stays: waits for the next request; 204: none yet, ask again
//   POST /api/jobs/ID/response     the response to it
//   GET  /api/jobs/ID/next         after the result: waits again for the same answer
// and with a hub the routes of hub_api.hpp. Everything else is 404. See guard.hpp for which requests are
// answered at all.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "native/http/hub.hpp"
#include "native/http/job.hpp"
#include "native/http/run_elsewhere.hpp"
#include "native/http/wall_folder.hpp"

namespace driftscope {

struct ServerOptions {
  std::filesystem::path site;  ///< the folder to serve, see find_site
  /// Fetched packages, served below packages/; it need not exist yet. Empty: none.
  std::filesystem::path packages = {};
  int port = 0;                                        ///< 0: any free one
  std::size_t max_trace_bytes = std::size_t{1} << 30;  ///< larger bodies are answered with 413
  /// Receives a trace made by hand on the page and returns where it was stored. Empty: such traces are
  /// rejected. Called on the server's threads, one call at a time.
  std::function<Result<std::string>(Bytes)> on_trace;
  /// What pages may run on this PC, as pc_targets() lists it. Empty: nothing.
  std::vector<std::string> pc_targets = {};
  /// Carries out what the owner's page runs on devices of the hub. Empty: nothing.
  BeginRunElsewhere begin_elsewhere = {};
  bool one_visit = false;  ///< also has visit_url()
  Hub* hub = nullptr;      ///< null: browsers elsewhere cannot join. It must outlive the server.
  WallFolder* wall =
      nullptr;  ///< shown to the owner below wall/; null: nothing is. It must outlive the server.
  /// How they reach it, through a proxy of the user's own: "https://hub.example.org". Empty: from this
  /// machine alone (or through a forwarded port, as of adb reverse).
  std::string public_origin = {};
  /// Through a front of ours (hub_front.hpp), of which every name is to be answered; the first is for links.
  std::vector<std::string> front_origins = {};
  std::string fingerprint = {};  ///< of that front's certificate, for whoever asks for a link
};

/// Bytes sent in bodies: as sent, and before compression.
struct Traffic {
  std::int64_t bytes = 0;
  std::int64_t raw_bytes = 0;
  std::int64_t engine_bytes = 0;  ///< of these: below /engine/, and EngineInfo::browser_files
  std::int64_t engine_raw_bytes = 0;
  std::int64_t job_bytes = 0;  ///< below /api/: models and inputs
};

class Server {
 public:
  /// Listens when it returns. Errors: the port is in use, the site folder lacks index.html.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(ServerOptions options);
  /// Stops listening and waits for the requests under way.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] int port() const;
  /// Of the page, with the token: "http://127.0.0.1:PORT/TOKEN/".
  [[nodiscard]] std::string url() const;
  /// An address that is good for the first browser that opens it, until its session ends: for a browser that
  /// keeps a history. Empty without ServerOptions::one_visit.
  [[nodiscard]] std::string visit_url() const;
  /// The page for a link or a device of the hub.
  [[nodiscard]] std::string hub_url(std::string_view segment) const;
  [[nodiscard]] std::string token() const;
  [[nodiscard]] std::string job_url(const Job& job) const;
  [[nodiscard]] JobBoard& jobs();
  /// Since the server started.
  [[nodiscard]] Traffic traffic() const;

  /// Reads a request from a connected socket, on this thread, and answers and closes it as if it came
  /// from the port. Client: the fuzzer.
  void answer(int socket);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace driftscope
