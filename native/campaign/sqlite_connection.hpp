// An SQLite database of campaigns: opened, its tables made, its settings for safety and durability. Client:
// SqliteStore. It knows no campaign.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>

#include "core/base/result.hpp"

namespace driftscope {

class SqliteConnection {
 public:
  /// With the tables of this version. Errors begin with the file.
  [[nodiscard]] static Result<std::unique_ptr<SqliteConnection>> open(const std::filesystem::path& path,
                                                                      std::chrono::milliseconds longest_lock);
  ~SqliteConnection();
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  [[nodiscard]] sqlite3* get() const { return connection_; }
  /// What SQLite said last, and what to do.
  [[nodiscard]] Error failure() const;
  [[nodiscard]] Error in_file(Error error) const;
  [[nodiscard]] Status execute(const char* sql);
  /// `work` in one transaction: all of it or nothing.
  [[nodiscard]] Status transact(const std::function<Status()>& work);
  /// Whether the next transaction is on the disk when it returns, and all before it. Others survive the end
  /// of the process alone, where the database has a write-ahead log; without one, each is on the disk.
  [[nodiscard]] Status flush_with_next(bool flush);
  /// All transactions are on the disk.
  void flush();

 private:
  explicit SqliteConnection(std::filesystem::path path, std::chrono::milliseconds longest_lock)
      : path_(std::move(path)), longest_lock_(longest_lock) {}
  [[nodiscard]] Status open();
  [[nodiscard]] Status make_tables();
  [[nodiscard]] Result<bool> has_tables();
  [[nodiscard]] Status check_tables();
  [[nodiscard]] Status begin_log();

  std::filesystem::path path_;
  std::chrono::milliseconds longest_lock_;
  sqlite3* connection_ = nullptr;
  bool has_log_ = false;
};

/// Programs that do not know each other's locks must not share a database: "system", "Node".
[[nodiscard]] const char* sqlite_locks();

}  // namespace driftscope
