// A connection to PostgreSQL that is made again when it is lost, and never waits for ever: not for a server
// that hangs, nor for one that does not come back. Client: PostgresStore. It knows no tables.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "native/campaign/postgres_library.hpp"
#include "native/campaign/store_url.hpp"

namespace driftscope {

struct PostgresTimes {
  /// Without a byte of an answer the server counts as lost.
  std::chrono::milliseconds answer = std::chrono::seconds(30);
  /// A lost connection is tried again for so long.
  std::chrono::milliseconds patience = std::chrono::minutes(5);
  std::chrono::milliseconds first_wait{500};  ///< doubled up to longest_wait
  std::chrono::milliseconds longest_wait = std::chrono::seconds(10);
};

class PostgresConnection {
 public:
  /// Told in words while a lost connection is tried again; null: nobody asks.
  using Notice = std::function<void(const std::string&)>;
  /// A text or NULL for each column.
  using Row = std::vector<std::optional<std::string>>;
  using TakeRow = std::function<Status(Row)>;

  /// Tries once: an address that is wrong is known at once. Errors: without the store's name.
  [[nodiscard]] static Result<PostgresConnection> open(StoreUrl url, const PostgresTimes& times,
                                                       Notice notice);
  PostgresConnection(PostgresConnection&&) = default;
  PostgresConnection& operator=(PostgresConnection&&) = delete;

  /// One statement with parameters $1, $2 … as texts. It is sent again when the connection was lost, though
  /// it may have been carried out: then rows are taken again, and what it does must be the same done twice.
  [[nodiscard]] Status run(const char* statement, std::span<const std::string> parameters,
                           const TakeRow& take = {});
  /// Statements without parameters, as one transaction; else the same.
  [[nodiscard]] Status run_script(const char* statements);

 private:
  struct Close {
    const postgres::Library* library;
    void operator()(postgres::Connection* connection) const { library->finish(connection); }
  };
  /// What became of one attempt: an error that stays, or one that passes.
  struct Attempt {
    std::optional<Error> error;
    bool passes = false;
  };
  using Send = std::function<int(postgres::Connection*)>;

  PostgresConnection(const postgres::Library& library, StoreUrl url, const PostgresTimes& times,
                     Notice notice)
      : library_(&library),
        url_(std::move(url)),
        times_(times),
        notice_(std::move(notice)),
        connection_(nullptr, Close{&library}) {}
  [[nodiscard]] Status connect();
  [[nodiscard]] Status begin_session();
  [[nodiscard]] Status repeat(const Send& send, const TakeRow& take);
  [[nodiscard]] Attempt attempt(const Send& send, const TakeRow& take);
  [[nodiscard]] Status wait_for_answer();
  [[nodiscard]] Status wait_for_socket(bool write, std::chrono::steady_clock::time_point end);
  [[nodiscard]] Attempt take_answer(const postgres::Answer* answer, const TakeRow& take);
  [[nodiscard]] std::string said(const char* text) const;
  [[nodiscard]] Attempt lost(const std::string& why);

  const postgres::Library* library_;
  StoreUrl url_;
  PostgresTimes times_;
  Notice notice_;
  std::unique_ptr<postgres::Connection, Close> connection_;
};

}  // namespace driftscope
