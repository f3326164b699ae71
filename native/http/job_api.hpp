// The jobs of a board over HTTP: the routes below /TOKEN/api/jobs. Client: server.
#pragma once

#include <httplib.h>

#include <cstddef>
#include <string>

#include "native/http/job.hpp"

namespace driftscope {

/// `prefix` is "/TOKEN". The board must outlive the server.
void add_job_routes(httplib::Server& server, const std::string& prefix, JobBoard& board,
                    std::size_t max_trace_bytes);

inline constexpr std::size_t max_message_bytes = 64 * 1024;  ///< progress and errors are short texts
inline constexpr std::size_t max_answer_bytes = 16 << 20;    ///< times of many runs
inline constexpr std::size_t max_values_bytes = std::size_t{64} << 20;  ///< pieces of 2 MiB and their names

/// Reads a body up to `limit` bytes; nothing, and the status set (413 or 400), if it is longer or
/// incomplete.
[[nodiscard]] std::optional<Bytes> read_body(const httplib::ContentReader& reader, std::size_t limit,
                                             httplib::Response& response);

/// Responds with the bytes themselves, without a copy.
void send_bytes(const httplib::Request& request, httplib::Response& response, const SharedBytes& bytes);

}  // namespace driftscope
