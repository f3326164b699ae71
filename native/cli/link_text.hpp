// A link by which a browser can join a hub, for a person: with a QR code on a terminal. Clients: the commands
// serve and devices.
#pragma once

#include <chrono>
#include <string>

namespace driftscope {

void show_link(const std::string& url, std::chrono::seconds life);

}  // namespace driftscope
