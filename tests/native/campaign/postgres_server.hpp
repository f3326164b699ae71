// A PostgreSQL server for tests, of Debian's packages: its data, its socket and its log are in a temporary
// folder, and it ends with the test. Not as root, which it refuses.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "native/os/child_process.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test {

class PostgresServer {
 public:
  static constexpr const char* password = "s3cret-p@ss";

  /// One for all tests of this process, running; null with a reason where none is installed.
  static PostgresServer* running(std::string& why_not);

  /// Begins it, or goes on after a crash; whether it answers. A running one stays.
  bool start();
  /// SIGKILL, SIGQUIT ("immediate"): the server and what it has started.
  void crash(int signal);
  /// Nothing of it runs until then; it keeps its connections.
  void pause();
  void go_on();

  /// By its socket, without a password.
  [[nodiscard]] std::string url() const;
  /// By TCP, with this password, encoded.
  [[nodiscard]] std::string tcp_url(const std::string& with_password) const;
  [[nodiscard]] std::string log() const;

 private:
  PostgresServer(TempFolder folder, std::filesystem::path programs);
  [[nodiscard]] std::vector<std::string> as_user(const std::string& program) const;
  [[nodiscard]] bool begin();
  [[nodiscard]] bool answers() const;
  void signal_all(int signal) const;

  TempFolder folder_;
  std::filesystem::path programs_;
  int port_ = 0;
  std::optional<ChildProcess> process_;
};

}  // namespace driftscope::test
