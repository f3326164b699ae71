// Bodies of responses from bytes that another object owns, without a copy. Clients: server, job_api.
#pragma once

#include <httplib.h>

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace driftscope {

/// `content` belongs to `owner`, which is kept until it is sent. A range that is not inside it is
/// answered with 416: some versions of httplib ask for bytes behind the end.
void send_content(const httplib::Request& request, httplib::Response& response, std::span<const char> content,
                  std::shared_ptr<const void> owner, const std::string& content_type);

void send_json(httplib::Response& response, const nlohmann::json& value);

}  // namespace driftscope
