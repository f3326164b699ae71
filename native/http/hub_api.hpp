// A hub over HTTP: what its devices and its owner may ask. Client: server.
//
// Below an open link, and nothing else but the page's files (GETs of which change nothing):
//   GET  /api/session                    "session", with the name of this machine
//   POST /api/hub/join                   "hub_join" → "welcome", with the cookie; 403: it is open no more
// Below a device's own segment, and nothing else but the page's files:
//   GET  /api/session                    "session", with its name
//   POST /api/hub/here                   "here" → "welcome"
//   *    /api/jobs/ID…                   of its job: passed on to the program that waits for it
// Below the server's token:
//   GET  /api/hub/devices                "hub_devices"
//   POST /api/hub/invitations            → "hub_invitation"
//   POST /api/hub/devices/NAME/work      "hub_work"
//   POST /api/hub/devices/NAME/remove
#pragma once

#include <httplib.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "native/http/hub.hpp"

namespace driftscope {

struct HubRoutes {
  std::string devices;  ///< pattern of a device's prefix, one group: "/([0-9a-f]{48})"
  std::string owner;    ///< pattern of the owner's, no group
  std::function<std::string(std::string_view segment)> url;  ///< the address of a link
  std::string fingerprint = {};  ///< of the certificate that devices are shown; empty: none was made here
  std::size_t max_trace_bytes = 0;
};

/// Whether whoever has an open link, and no cookie yet, may ask for this path below it.
[[nodiscard]] bool is_for_links(std::string_view method, std::string_view below);

/// The hub must outlive the server.
void add_hub_routes(httplib::Server& server, const HubRoutes& routes, Hub& hub);

}  // namespace driftscope
