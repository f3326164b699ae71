// Serves folders of files to a browser on this machine, under a secret path, and notes what is asked for.
// Client: repro_run, which runs a page that is no part of the site.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

/// Files below `folder` are served below `path` ("" or "node_modules/x"); longer paths come first.
struct ServedFolder {
  std::string path;
  std::filesystem::path folder;
  std::map<std::string, std::string> renamed = {};  ///< as they are asked for, as they lie there
};

class FolderServer {
 public:
  /// Listens on the loopback interface when it returns. Errors: no port, a folder is missing.
  [[nodiscard]] static Result<std::unique_ptr<FolderServer>> start(const std::vector<ServedFolder>& folders);
  ~FolderServer();
  FolderServer(const FolderServer&) = delete;
  FolderServer& operator=(const FolderServer&) = delete;

  /// "http://127.0.0.1:PORT/TOKEN/"
  [[nodiscard]] std::string url() const;
  /// Waits until one of these files is asked for; nothing after `timeout`, or when `stopped` returns true,
  /// which is asked several times a second.
  [[nodiscard]] std::optional<std::string> wait_for(std::span<const std::string_view> files,
                                                    std::chrono::milliseconds timeout,
                                                    const std::function<bool()>& stopped);
  /// The value of the parameter with which a file was asked for last, as in "failed.svg?why=…"; may be empty.
  [[nodiscard]] std::string query_of(const std::string& file);

 private:
  struct State;
  explicit FolderServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace driftscope
