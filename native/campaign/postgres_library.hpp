// libpq, PostgreSQL's client library, loaded when a store asks for it, so that the program does not depend on
// it. Declared as in https://www.postgresql.org/docs/current/libpq.html; the numbers are those of
// libpq-fe.h, which no version has changed. Client: PostgresConnection.
#pragma once

#include <type_traits>

#include "core/base/result.hpp"

namespace driftscope::postgres {

struct Connection;  // PGconn
struct Answer;      // PGresult

// ConnStatusType
inline constexpr int connection_ok = 0;
// PostgresPollingStatusType
inline constexpr int polling_failed = 0;
inline constexpr int polling_reading = 1;
inline constexpr int polling_writing = 2;
inline constexpr int polling_ok = 3;
// ExecStatusType
inline constexpr int command_ok = 1;
inline constexpr int tuples_ok = 2;
inline constexpr int single_tuple = 9;
// Fields of an error
inline constexpr int sqlstate_field = 'C';
inline constexpr int message_field = 'M';

using NoticeProcessor = void (*)(void* argument, const char* message);

// X(name of a member, function of libpq, its type)
#define DRIFTSCOPE_LIBPQ_FUNCTIONS(X)                                                                      \
  X(connect_start, PQconnectStartParams,                                                                   \
    Connection* (*)(const char* const* keywords, const char* const* values, int expand_dbname))            \
  X(connect_poll, PQconnectPoll, int (*)(Connection*))                                                     \
  X(finish, PQfinish, void (*)(Connection*))                                                               \
  X(status, PQstatus, int (*)(const Connection*))                                                          \
  X(socket, PQsocket, int (*)(const Connection*))                                                          \
  X(server_version, PQserverVersion, int (*)(const Connection*))                                           \
  X(error_message, PQerrorMessage, char* (*)(const Connection*))                                           \
  X(set_nonblocking, PQsetnonblocking, int (*)(Connection*, int))                                          \
  X(set_notice_processor, PQsetNoticeProcessor, NoticeProcessor (*)(Connection*, NoticeProcessor, void*))  \
  X(send_query, PQsendQuery, int (*)(Connection*, const char*))                                            \
  X(send_query_params, PQsendQueryParams,                                                                  \
    int (*)(Connection*, const char* command, int count, const unsigned* types, const char* const* values, \
            const int* lengths, const int* formats, int result_format))                                    \
  X(set_single_row_mode, PQsetSingleRowMode, int (*)(Connection*))                                         \
  X(flush, PQflush, int (*)(Connection*))                                                                  \
  X(consume_input, PQconsumeInput, int (*)(Connection*))                                                   \
  X(is_busy, PQisBusy, int (*)(Connection*))                                                               \
  X(get_answer, PQgetResult, Answer* (*)(Connection*))                                                     \
  X(answer_status, PQresultStatus, int (*)(const Answer*))                                                 \
  X(answer_message, PQresultErrorMessage, char* (*)(const Answer*))                                        \
  X(answer_field, PQresultErrorField, char* (*)(const Answer*, int field))                                 \
  X(clear, PQclear, void (*)(Answer*))                                                                     \
  X(rows, PQntuples, int (*)(const Answer*))                                                               \
  X(columns, PQnfields, int (*)(const Answer*))                                                            \
  X(value, PQgetvalue, char* (*)(const Answer*, int row, int column))                                      \
  X(length, PQgetlength, int (*)(const Answer*, int row, int column))                                      \
  X(is_null, PQgetisnull, int (*)(const Answer*, int row, int column))

struct Library {
#define DRIFTSCOPE_MEMBER(name, function, ...) std::type_identity_t<__VA_ARGS__> name = nullptr;
  DRIFTSCOPE_LIBPQ_FUNCTIONS(DRIFTSCOPE_MEMBER)
#undef DRIFTSCOPE_MEMBER
};

/// Loaded once. Errors: missing, with the command that installs it; unsupported under Node.
[[nodiscard]] Result<const Library*> library();

}  // namespace driftscope::postgres
