// driftscope devices [--invite] [--remove NAME] [--json OUT]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/report/text_table.hpp"
#include "generated/documents/devices.hpp"
#include "native/cli/commands/commands.hpp"
#include "native/cli/link_text.hpp"
#include "native/http/hub_client.hpp"
#include "native/http/hub_device.hpp"
#include "native/http/hub_front.hpp"
#include "native/os/files.hpp"

namespace driftscope {
namespace {

struct DevicesOptions {
  bool invite = false;
  std::string remove;
  std::string json;
};

Status show_devices(const HubClient& hub, const std::string& json) {
  DRIFTSCOPE_TRY(const std::vector<messages::HubDevice> devices, hub.devices());
  if (json != "-") {
    if (devices.empty()) print_out("No device has joined the hub yet: driftscope devices --invite\n");
    TextTable table;
    table.column("target", Align::left);
    table.column("browser", Align::left);
    table.column("device", Align::left);
    table.column("graphics", Align::left);
    table.column("now", Align::left);
    for (const messages::HubDevice& device : devices)
      table.row({"remote:" + device.name, browser_of(device), hardware_of(device), adapter_of(device),
                 state_of(device)});
    if (!devices.empty()) print_out("{}", table.text());
  }
  if (json.empty()) return {};
  documents::Devices document;
  for (const messages::HubDevice& device : devices) {
    documents::Device& one = document.devices.emplace_back();
    one.target = "remote:" + device.name;
    one.browser = browser_of(device);
    one.user_agent = fact_of(device, "user_agent");
    one.hardware = hardware_of(device);
    one.graphics = adapter_of(device);
    one.state = state_of(device);
    one.here = is_here(device);
    one.joined = device.joined;
    if (device.lost) one.lost = lost_text(*device.lost);
  }
  return write_json(json, json_text(encode(document), 1) + "\n");
}

Result<Exit> run_devices(const DevicesOptions& options) {
  DRIFTSCOPE_TRY(const HubClient hub, HubClient::find());
  if (!options.remove.empty()) {
    DRIFTSCOPE_TRY(const messages::HubDevice device, hub.device(options.remove));
    DRIFTSCOPE_CHECK(hub.remove(device.name));
    print_out("{} was removed: its key is worth nothing any more\n", device.name);
    return Exit::ok;
  }
  if (options.invite) {
    DRIFTSCOPE_TRY(const messages::HubInvitation link, hub.invite());
    if (link.fingerprint) print_out("{}\n", fingerprint_text(*link.fingerprint));
    show_link(link.url, std::chrono::seconds(link.seconds));
    return Exit::ok;
  }
  DRIFTSCOPE_CHECK(show_devices(hub, options.json));
  return Exit::ok;
}

}  // namespace

namespace commands::devices {

static Command declare(CLI::App& app) {
  auto options = std::make_shared<DevicesOptions>();
  const auto invite = app.add_flag(
      "--invite", options->invite,
      "Show a new link, by which one more browser can join, and the fingerprint of the certificate "
      "that it shows with --listen");
  const auto remove =
      app.add_option("--remove", options->remove, "Take away this device's key")->excludes(invite);
  app.add_option("--json", options->json, "Write the list as JSON ('-': standard output)")
      ->excludes(invite)
      ->excludes(remove);
  app.footer(
      "Exit code 3 when no hub runs. Devices are targets of all commands that take some:\n"
      "  driftscope run model.onnx --target remote:pixel8/webgpu\n"
      "  driftscope compare model.onnx --right remote:pixel8/webgpu,remote:ipad/webgl");
  return [options] {
    const auto exit = run_devices(*options);
    if (exit.ok()) return *exit;
    print_error(exit.error());
    return exit_of(exit.error());
  };
}

void add_to(CommandTable& table) {
  table.add({.order = 71,
             .name = "devices",
             .summary = "List the browsers that have joined the hub (serve --hub), or let one more join.",
             .declare = declare});
}

}  // namespace commands::devices

}  // namespace driftscope
