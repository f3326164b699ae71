// One prepared statement of SQLite, whose errors the connection keeps. Clients: SqliteStore, the history of
// benches.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>

namespace driftscope {

class SqliteStatement {
 public:
  SqliteStatement(sqlite3* connection, const char* sql) {
    sqlite3_prepare_v2(connection, sql, -1, &statement_, nullptr);
  }
  ~SqliteStatement() { sqlite3_finalize(statement_); }
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  void bind(const std::string& text) {
    sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  void bind(double number) { sqlite3_bind_double(statement_, ++bound_, number); }
  void bind(std::int64_t number) { sqlite3_bind_int64(statement_, ++bound_, number); }
  void bind_null() { sqlite3_bind_null(statement_, ++bound_); }

  [[nodiscard]] int step() { return statement_ ? sqlite3_step(statement_) : SQLITE_ERROR; }
  [[nodiscard]] bool is_text(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_TEXT;
  }
  /// Empty for NULL.
  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return bytes ? std::string(bytes, size) : std::string();
  }
  [[nodiscard]] double real(int column) const { return sqlite3_column_double(statement_, column); }
  [[nodiscard]] std::int64_t whole(int column) const { return sqlite3_column_int64(statement_, column); }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

}  // namespace driftscope
