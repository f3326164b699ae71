// The wall over HTTP: the pages of a folder of comparisons, made anew for each request. Client: server.
//
// Below the server's token, and for no device of a hub:
//   GET /wall/             its front page
//   GET /wall/NAME.html    a model's page
#pragma once

#include <httplib.h>

#include <string>

#include "native/http/wall_folder.hpp"

namespace driftscope {

/// `owner`: pattern of the owner's prefix, no group. The folder must outlive the server.
void add_wall_routes(httplib::Server& server, const std::string& owner, WallFolder& folder);

}  // namespace driftscope
