#include "native/browser/firefox_profile.hpp"

#include "native/os/files.hpp"

namespace driftscope {
namespace {

constexpr const char* preferences = R"(// graphics without a GPU, in workers too
user_pref("dom.webgpu.enabled", true);
user_pref("dom.webgpu.workers.enabled", true);
user_pref("gfx.webgpu.ignore-blocklist", true);
user_pref("webgl.force-enabled", true);
// times of single layers
user_pref("privacy.reduceTimerPrecision", false);
// no questions, no first-run pages
user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("browser.startup.page", 0);
user_pref("browser.newtabpage.enabled", false);
user_pref("browser.sessionstore.resume_from_crash", false);
user_pref("browser.tabs.warnOnClose", false);
user_pref("browser.warnOnQuit", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("datareporting.policy.dataSubmissionPolicyBypassNotification", true);
user_pref("datareporting.usage.uploadEnabled", false);
user_pref("termsofuse.bypassNotification", true);
user_pref("toolkit.startup.max_resumed_crashes", -1);
// no requests but ours: no names are looked up, and any remaining request goes to a closed port
user_pref("network.dns.disabled", true);
user_pref("network.proxy.type", 1);
user_pref("network.proxy.http", "127.0.0.1");
user_pref("network.proxy.http_port", 9);
user_pref("network.proxy.ssl", "127.0.0.1");
user_pref("network.proxy.ssl_port", 9);
user_pref("network.proxy.no_proxies_on", "127.0.0.1");
user_pref("network.proxy.allow_hijacking_localhost", false);
user_pref("network.proxy.failover_direct", false);
user_pref("network.proxy.allow_bypass", false);
user_pref("network.trr.mode", 5);
user_pref("network.http.speculative-parallel-limit", 0);
user_pref("network.manage-offline-status", false);
user_pref("dom.push.enabled", false);
user_pref("browser.aboutHomeSnippets.updateUrl", "");
user_pref("browser.contentblocking.report.lockwise.enabled", false);
user_pref("browser.discovery.enabled", false);
user_pref("browser.ping-centre.telemetry", false);
user_pref("browser.topsites.contile.enabled", false);
user_pref("browser.newtabpage.activity-stream.feeds.topsites", false);
user_pref("browser.newtabpage.activity-stream.feeds.section.topstories", false);
user_pref("extensions.blocklist.enabled", false);
user_pref("security.OCSP.enabled", 0);
user_pref("app.update.enabled", false);
user_pref("app.update.auto", false);
user_pref("app.normandy.enabled", false);
user_pref("browser.region.network.url", "");
user_pref("browser.safebrowsing.malware.enabled", false);
user_pref("browser.safebrowsing.phishing.enabled", false);
user_pref("browser.safebrowsing.downloads.remote.enabled", false);
user_pref("browser.search.update", false);
user_pref("extensions.getAddons.cache.enabled", false);
user_pref("extensions.systemAddon.update.enabled", false);
user_pref("extensions.update.enabled", false);
user_pref("media.gmp-manager.updateEnabled", false);
user_pref("media.gmp-provider.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("network.dns.disablePrefetch", true);
user_pref("network.prefetch-next", false);
user_pref("services.settings.server", "data:,#remote-settings-off");
user_pref("toolkit.telemetry.enabled", false);
user_pref("toolkit.telemetry.unified", false);
// a background tab would be slowed down
user_pref("dom.min_background_timeout_value", 4);
user_pref("dom.min_background_timeout_value_without_budget_throttling", 4);
user_pref("dom.timeout.enable_budget_timer_throttling", false);
user_pref("dom.ipc.processPriorityManager.enabled", false);
)";

}  // namespace

Status write_firefox_profile(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return io_error("cannot make '" + folder.string() + "': " + error.message());
  return write_temporary(folder / "user.js", preferences);
}

}  // namespace driftscope
