#include "native/http/run_routes.hpp"

#include <memory>

#include "native/http/job_api.hpp"
#include "native/http/offered_targets.hpp"
#include "native/http/send.hpp"

namespace driftscope {

using httplib::ContentReader;
using httplib::Request;
using httplib::Response;

std::optional<bool> offers_targets(const ServerOptions& options) {
  if (options.hub == nullptr || !options.begin_elsewhere) return std::nullopt;
  return true;
}

void add_run_routes(httplib::Server& server, const std::string& prefix, const ServerOptions& options,
                    PcRuns& runs) {
  server.Post(prefix + "/api/pc", [&options, &runs](const Request& request, Response& response,
                                                    const ContentReader& reader) {
    const auto body = read_body(reader, options.pc_targets.empty() ? 0 : options.max_trace_bytes, response);
    if (!body) return;
    constexpr std::size_t longest_name = 64;
    const std::string run = request.get_param_value("run").substr(0, longest_name);
    send_bytes(request, response, std::make_shared<const Bytes>(runs.exchange(run, *body)));
  });
  if (!offers_targets(options)) return;
  server.Get(prefix + "/api/targets", [&options](const Request&, Response& response) {
    send_json(response, encode(offered_targets(options.hub->devices())));
  });
}

}  // namespace driftscope
