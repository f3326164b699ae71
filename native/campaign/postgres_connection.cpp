#include "native/campaign/postgres_connection.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <thread>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int oldest_server = 130000;  // 13: the first with xid8
constexpr std::size_t longest_message = 400;
// Shorter ones would take letters out of every message. None comes to libpq but as a parameter.
constexpr std::size_t shortest_hidden = 4;

/// Errors that another attempt may not have: classes and codes of SQLSTATE
/// (https://www.postgresql.org/docs/current/errcodes-appendix.html).
bool may_pass(std::string_view sqlstate) {
  constexpr std::array codes = {"08", "57P", "57014", "53300", "40001", "40P01", "55P03"};
  return std::ranges::any_of(codes, [&](std::string_view code) { return sqlstate.starts_with(code); });
}

void hide(std::string& text, const std::string& secret) {
  if (secret.size() < shortest_hidden) return;
  for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += 3)
    text.replace(at, secret.size(), "***");
}

double seconds_of(std::chrono::milliseconds time) { return std::chrono::duration<double>(time).count(); }

void ignore_notice(void*, const char*) {}

}  // namespace

Result<PostgresConnection> PostgresConnection::open(StoreUrl url, const PostgresTimes& times, Notice notice) {
  DRIFTSCOPE_TRY(const postgres::Library* const library, postgres::library());
  PostgresConnection made(*library, std::move(url), times, std::move(notice));
  DRIFTSCOPE_CHECK(made.connect());
  return made;
}

// The first line, without passwords.
std::string PostgresConnection::said(const char* text) const {
  std::string message = text == nullptr ? "" : text;
  if (message.find_first_not_of(" \n") == std::string::npos) message = "no reason was given";
  std::ranges::replace(message, '\t', ' ');
  while (message.ends_with('\n')) message.pop_back();
  for (std::size_t at = 0; (at = message.find('\n', at)) != std::string::npos; at += 2)
    message.replace(at, 1, ": ");
  hide(message, url_.password);
  hide(message, url_.key_password);
  if (message.size() > longest_message) message = message.substr(0, longest_message) + "…";
  return harmless(message);
}

Status PostgresConnection::wait_for_socket(bool write, Clock::time_point end) {
  pollfd one{library_->socket(connection_.get()), static_cast<short>(write ? POLLIN | POLLOUT : POLLIN), 0};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return io_error(fmt::format("it does not answer for {:g} s", seconds_of(times_.answer)));
    const int ready = ::poll(&one, 1, static_cast<int>(left));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return io_error("the system cannot wait for its connection");
  }
}

Status PostgresConnection::connect() {
  connection_.reset();
  const std::string user_timeout = std::to_string(times_.answer.count());
  // What stands before dbname, the URL may say otherwise.
  const char* const keywords[] = {"fallback_application_name",
                                  "keepalives_idle",
                                  "keepalives_interval",
                                  "keepalives_count",
                                  "tcp_user_timeout",
                                  "dbname",
                                  "client_encoding",
                                  "password",
                                  "sslpassword",
                                  nullptr};
  const char* const values[] = {"driftscope",
                                "10",
                                "5",
                                "3",
                                user_timeout.c_str(),
                                url_.shown.c_str(),
                                "UTF8",
                                url_.password.empty() ? nullptr : url_.password.c_str(),
                                url_.key_password.empty() ? nullptr : url_.key_password.c_str(),
                                nullptr};
  connection_.reset(library_->connect_start(keywords, values, 1));
  if (!connection_) return io_error("there is no memory for a connection");
  library_->set_notice_processor(connection_.get(), ignore_notice, nullptr);
  const auto end = Clock::now() + times_.answer;
  int state = library_->status(connection_.get()) == 1 ? postgres::polling_failed : postgres::polling_writing;
  while (state == postgres::polling_reading || state == postgres::polling_writing) {
    DRIFTSCOPE_CHECK(wait_for_socket(state == postgres::polling_writing, end));
    state = library_->connect_poll(connection_.get());
  }
  if (state != postgres::polling_ok) return io_error(said(library_->error_message(connection_.get())));
  return begin_session();
}

Status PostgresConnection::begin_session() {
  const int version = library_->server_version(connection_.get());
  if (version < oldest_server)
    return unsupported(fmt::format("the server is PostgreSQL {}, expected {} or newer", version / 10000,
                                   oldest_server / 10000));
  if (library_->set_nonblocking(connection_.get(), 1) != 0)
    return io_error(said(library_->error_message(connection_.get())));
  // So that the server gives up before this program stops listening.
  const std::string limit = std::to_string(std::max<std::int64_t>(1, times_.answer.count() * 4 / 5));
  const char* const values[] = {limit.c_str()};
  const Attempt set = attempt(
      [&](postgres::Connection* connection) {
        return library_->send_query_params(connection, "SELECT set_config('statement_timeout', $1, false)", 1,
                                           nullptr, values, nullptr, nullptr, 0);
      },
      {});
  return set.error ? Status(*set.error) : Status();
}

Status PostgresConnection::run(const char* statement, std::span<const std::string> parameters,
                               const TakeRow& take) {
  std::vector<const char*> values;
  for (const std::string& one : parameters) values.push_back(one.c_str());
  return repeat(
      [&](postgres::Connection* connection) {
        return library_->send_query_params(connection, statement, static_cast<int>(values.size()), nullptr,
                                           values.data(), nullptr, nullptr, 0);
      },
      take);
}

Status PostgresConnection::run_script(const char* statements) {
  return repeat(
      [&](postgres::Connection* connection) { return library_->send_query(connection, statements); }, {});
}

Status PostgresConnection::repeat(const Send& send, const TakeRow& take) {
  std::optional<Clock::time_point> end;
  auto wait = times_.first_wait;
  std::string why;
  while (true) {
    Attempt done;
    if (connection_)
      done = attempt(send, take);
    else if (Status connected = connect(); !connected.ok())
      done = lost(connected.error().message);
    else
      done = attempt(send, take);
    if (!done.error) return {};
    if (!done.passes) return *done.error;
    connection_.reset();
    why = done.error->message;
    const auto now = Clock::now();
    if (!end) {
      end = now + times_.patience;
      if (notice_)
        notice_(fmt::format("the connection is lost ({}); trying to connect again for {:g} s", why,
                            seconds_of(times_.patience)));
    }
    if (now >= *end)
      return io_error(fmt::format("the connection is lost, and could not be made again within {:g} s: {}",
                                  seconds_of(times_.patience), why));
    std::this_thread::sleep_for(std::min<Clock::duration>(wait, *end - now));
    wait = std::min(wait * 2, times_.longest_wait);
  }
}

PostgresConnection::Attempt PostgresConnection::lost(const std::string& why) {
  return {.error = io_error(why), .passes = true};
}

Status PostgresConnection::wait_for_answer() {
  while (true) {
    const int left = library_->flush(connection_.get());
    if (left < 0) return io_error(said(library_->error_message(connection_.get())));
    if (left == 0 && library_->is_busy(connection_.get()) == 0) return {};
    DRIFTSCOPE_CHECK(wait_for_socket(left > 0, Clock::now() + times_.answer));
    if (library_->consume_input(connection_.get()) == 0)
      return io_error(said(library_->error_message(connection_.get())));
  }
}

PostgresConnection::Attempt PostgresConnection::attempt(const Send& send, const TakeRow& take) {
  if (send(connection_.get()) == 0) return lost(said(library_->error_message(connection_.get())));
  (void)library_->set_single_row_mode(connection_.get());
  Attempt first;
  while (true) {
    if (const Status waited = wait_for_answer(); !waited.ok()) return lost(waited.error().message);
    postgres::Answer* const answer = library_->get_answer(connection_.get());
    if (answer == nullptr) return first;
    const Attempt one = take_answer(answer, first.error ? TakeRow() : take);
    library_->clear(answer);
    if (one.error && !first.error) first = one;
    // What is left of the answer goes with the connection.
    if (first.passes) return first;
  }
}

PostgresConnection::Attempt PostgresConnection::take_answer(const postgres::Answer* answer,
                                                            const TakeRow& take) {
  const int status = library_->answer_status(answer);
  if (status != postgres::command_ok && status != postgres::tuples_ok && status != postgres::single_tuple) {
    const char* const code = library_->answer_field(answer, postgres::sqlstate_field);
    const char* const primary = library_->answer_field(answer, postgres::message_field);
    const std::string why = said(primary != nullptr ? primary : library_->answer_message(answer));
    if (library_->status(connection_.get()) != postgres::connection_ok || code == nullptr || may_pass(code))
      return lost(why);
    return {.error = io_error(fmt::format("{} ({})", why, code))};
  }
  for (int row = 0; take && row < library_->rows(answer); ++row) {
    Row values;
    for (int column = 0; column < library_->columns(answer); ++column) {
      if (library_->is_null(answer, row, column) != 0)
        values.emplace_back();
      else
        values.emplace_back(std::string(library_->value(answer, row, column),
                                        static_cast<std::size_t>(library_->length(answer, row, column))));
    }
    if (Status taken = take(std::move(values)); !taken.ok()) return {.error = std::move(taken).error()};
  }
  return {};
}

}  // namespace driftscope
