#include "native/campaign/postgres_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <glob.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "native/campaign/postgres_connection.hpp"
#include "native/os/files.hpp"

namespace driftscope::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr uid_t nobody = 65534;
constexpr auto server_patience = 120s;  // on a loaded machine

/// The newest; empty: none.
fs::path installed_programs() {
  glob_t found{};
  fs::path programs;
  if (::glob("/usr/lib/postgresql/*/bin/initdb", 0, nullptr, &found) == 0 && found.gl_pathc > 0)
    programs = fs::path(found.gl_pathv[found.gl_pathc - 1]).parent_path();
  ::globfree(&found);
  return programs;
}

int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool got = ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                   ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(socket);
  return got ? ntohs(address.sin_port) : 0;
}

}  // namespace

PostgresServer* PostgresServer::running(std::string& why_not) {
  static const auto made = []() -> std::unique_ptr<PostgresServer> {
    const fs::path programs = installed_programs();
    // Another user must reach it, who may not enter a private folder for temporary files.
    auto folder = ::getuid() == 0 ? TempFolder::make_in("/tmp") : TempFolder::make();
    if (programs.empty() || !folder.ok()) return nullptr;
    std::unique_ptr<PostgresServer> server(new PostgresServer(*std::move(folder), programs));
    return server->begin() ? std::move(server) : nullptr;
  }();
  if (!made)
    why_not = installed_programs().empty() ? "no PostgreSQL server is installed (tools/setup)"
                                           : "the PostgreSQL server does not begin";
  else if (!made->start())
    why_not = "the PostgreSQL server does not start: " + made->log();
  else
    return made.get();
  return nullptr;
}

PostgresServer::PostgresServer(TempFolder folder, fs::path programs)
    : folder_(std::move(folder)), programs_(std::move(programs)), port_(free_port()) {}

std::vector<std::string> PostgresServer::as_user(const std::string& program) const {
  std::vector<std::string> arguments = {"setpriv", "--pdeathsig", "KILL"};
  if (::getuid() == 0)
    for (const std::string one : {"--reuid=65534", "--regid=65534", "--clear-groups"})
      arguments.push_back(one);
  arguments.push_back((programs_ / program).string());
  return arguments;
}

bool PostgresServer::begin() {
  const fs::path home = folder_.path() / "pg";
  if (!fs::create_directory(home) || !write_file(home / "password", password).ok()) return false;
  if (::getuid() == 0) {
    if (::chmod(folder_.path().c_str(), 0711) != 0) return false;
    for (const fs::path& path : {home, home / "password"})
      if (::chown(path.c_str(), nobody, nobody) != 0) return false;
  }
  ProcessSpec spec;
  spec.arguments = as_user("initdb");
  for (const std::string& one :
       {std::string("-D"), (home / "data").string(), std::string("-U"), std::string("tester"),
        std::string("-E"), std::string("UTF8"), std::string("--locale=C"), std::string("--no-sync"),
        std::string("--auth-local=trust"), std::string("--auth-host=scram-sha-256"),
        "--pwfile=" + (home / "password").string()})
    spec.arguments.push_back(one);
  spec.output = folder_.path() / "initdb.log";
  auto made = ChildProcess::start(spec);
  return made.ok() && made->wait(180'000) && made->exited_well();
}

bool PostgresServer::start() {
  const auto end = std::chrono::steady_clock::now() + server_patience;
  while (std::chrono::steady_clock::now() < end) {
    if (process_ && process_->running()) {
      if (answers()) return true;
      std::this_thread::sleep_for(50ms);
      continue;
    }
    process_.reset();
    const fs::path home = folder_.path() / "pg";
    ProcessSpec spec;
    spec.arguments = as_user("postgres");
    for (const std::string& setting :
         {std::string("listen_addresses=127.0.0.1"), fmt::format("port={}", port_),
          fmt::format("unix_socket_directories={}", home.string()), std::string("shared_buffers=16MB"),
          std::string("max_connections=20"), std::string("fsync=off")}) {
      spec.arguments.emplace_back("-c");
      spec.arguments.push_back(setting);
    }
    spec.arguments.emplace_back("-D");
    spec.arguments.push_back((home / "data").string());
    spec.output = folder_.path() / "server.log";
    auto started = ChildProcess::start(spec);
    if (!started.ok()) return false;
    process_.emplace(*std::move(started));
    std::this_thread::sleep_for(50ms);
  }
  return false;
}

bool PostgresServer::answers() const {
  const auto read = read_store_url(url());
  return read.ok() && PostgresConnection::open(*read, {.answer = 2s}, {}).ok();
}

void PostgresServer::signal_all(int signal) const {
  for (const pid_t process : find_processes(process_->mark(), false)) ::kill(process, signal);
}

void PostgresServer::crash(int signal) {
  if (!process_) return;
  ::kill(process_->mark().leader, signal);
  // What it has started ends by itself, or here.
  (void)process_->wait(10'000);
  process_->end(0);
  process_.reset();
}

void PostgresServer::pause() { signal_all(SIGSTOP); }
void PostgresServer::go_on() { signal_all(SIGCONT); }

std::string PostgresServer::url() const {
  return fmt::format("postgresql://tester@/postgres?host={}&port={}", (folder_.path() / "pg").string(),
                     port_);
}

std::string PostgresServer::tcp_url(const std::string& with_password) const {
  return fmt::format("postgresql://tester{}@127.0.0.1:{}/postgres",
                     with_password.empty() ? "" : ":" + with_password, port_);
}

std::string PostgresServer::log() const {
  std::ifstream file(folder_.path() / "server.log");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace driftscope::test
