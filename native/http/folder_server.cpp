#include "native/http/folder_server.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "native/http/loopback.hpp"
#include "native/http/send.hpp"
#include "native/http/static_files.hpp"
#include "native/os/token.hpp"

namespace driftscope {

struct FolderServer::State {
  struct Folder {
    std::string path;  // "/" or "/node_modules/x/"
    std::unique_ptr<StaticFiles> files;
    std::map<std::string, std::string> renamed;
  };

  void answer(const httplib::Request& request, httplib::Response& response);

  Address address;
  std::vector<Folder> folders;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> asked;              // without the first "/"
  std::map<std::string, std::string> queries;  // of those, where they have one
  LimitedServer http;
  std::thread thread;
};

void FolderServer::State::answer(const httplib::Request& request, httplib::Response& response) {
  const std::string path(below_token(request.path));
  for (const Folder& folder : folders) {
    if (!path.starts_with(folder.path)) continue;
    const std::string name = path.substr(folder.path.size());
    const auto other = folder.renamed.find(name);
    const auto file =
        folder.files->read("/" + (other == folder.renamed.end() ? name : other->second), Coding::identity);
    if (!file) continue;
    send_content(request, response, *file->content, file->content, file->content_type);
    const std::lock_guard lock(mutex);
    constexpr std::size_t most = 4096;
    if (asked.size() < most) asked.push_back(path.substr(1));
    if (!request.params.empty() && queries.size() < most)
      queries[path.substr(1)] = request.params.begin()->second;
    changed.notify_all();
    return;
  }
  response.status = 404;
  response.set_content("not found\n", "text/plain");
}

FolderServer::FolderServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<FolderServer>> FolderServer::start(const std::vector<ServedFolder>& folders) {
  auto state = std::make_unique<State>();
  for (const ServedFolder& one : folders) {
    std::error_code error;
    if (!std::filesystem::is_directory(one.folder, error))
      return missing_error("there is no folder '" + one.folder.string() + "'");
    State::Folder folder{
        .path = one.path.empty() ? "/" : "/" + one.path + "/", .files = {}, .renamed = one.renamed};
    folder.files = std::make_unique<StaticFiles>(one.folder);
    state->folders.push_back(std::move(folder));
  }
  std::ranges::sort(state->folders, std::greater(),
                    [](const State::Folder& folder) { return folder.path.size(); });
  DRIFTSCOPE_TRY(state->address.token, random_token());
  State& shared = *state;
  shared.http.set_pre_routing_handler(
      [&shared](const httplib::Request& request, httplib::Response& response) {
        const auto rejection = reject(facts_of(request), shared.address);
        if (!rejection) return httplib::Server::HandlerResponse::Unhandled;
        response.status = rejection->status;
        response.set_content(rejection->reason + "\n", "text/plain");
        return httplib::Server::HandlerResponse::Handled;
      });
  DRIFTSCOPE_TRY(shared.address.port, bind_to_loopback(shared.http, 0));
  shared.http.Get("/" + shared.address.token + "/.*",
                  [&shared](const httplib::Request& request, httplib::Response& response) {
                    shared.answer(request, response);
                  });
  DRIFTSCOPE_TRY(shared.thread, listen_on_thread(shared.http));
  return std::unique_ptr<FolderServer>(new FolderServer(std::move(state)));
}

FolderServer::~FolderServer() {
  state_->http.stop_all();
  if (state_->thread.joinable()) state_->thread.join();
}

std::string FolderServer::url() const { return state_->address.url(); }

std::string FolderServer::query_of(const std::string& file) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->queries.find(file);
  return found == state_->queries.end() ? std::string() : found->second;
}

std::optional<std::string> FolderServer::wait_for(std::span<const std::string_view> files,
                                                  std::chrono::milliseconds timeout,
                                                  const std::function<bool()>& stopped) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  std::unique_lock lock(state_->mutex);
  while (std::chrono::steady_clock::now() < end && !(stopped && stopped())) {
    for (const std::string& one : state_->asked)
      if (std::ranges::find(files, one) != files.end()) return one;
    state_->changed.wait_for(lock, std::chrono::milliseconds(100));
  }
  return std::nullopt;
}

}  // namespace driftscope
