#include "native/cli/result_store.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "core/base/sha256.hpp"
#include "core/campaign/store_format.hpp"
#include "native/bench/build_id.hpp"
#include "native/bench/machine.hpp"
#include "native/browser/web_driver_identity.hpp"
#include "native/browser/web_driver_target.hpp"
#include "native/campaign/store_kinds.hpp"
#include "native/cli/console.hpp"
#include "native/host/host.hpp"
#include "native/os/files.hpp"
#include "native/platform/site.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

Error unreadable(const fs::path& what, const std::string& why) {
  return io_error(
      fmt::format("--store: results depend on the page, and {} cannot be read: {}; make it readable, or "
                  "name another page with --site",
                  what.string(), why));
}

Result<std::string> version_of(const Target& target, const RunnerOptions& runner) {
  if (is_web_driver(target.host)) return web_driver_identity(target, runner.web_driver);
  DRIFTSCOPE_TRY(const Host* const host, find_host(target));
  return host->version();
}

bool is_loaded(const fs::path& file) { return file.extension() != ".br" && file.extension() != ".gz"; }

}  // namespace

Result<std::string> site_sha256(const fs::path& site) {
  std::map<std::string, std::string> hashes;  // by relative path
  std::error_code error;
  fs::recursive_directory_iterator entry(site, fs::directory_options::follow_directory_symlink, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::path relative = entry->path().lexically_relative(site);
    std::error_code failed;
    const fs::file_status status = entry->status(failed);
    if (failed) return unreadable(entry->path(), failed.message());
    if (relative == "assets") entry.disable_recursion_pending();
    if (!fs::is_regular_file(status) || !is_loaded(relative)) continue;
    const auto file = MappedFile::open(entry->path());
    if (!file.ok()) return unreadable(entry->path(), file.error().message);
    hashes[relative.generic_string()] = sha256_hex(file->bytes());
  }
  if (error) return unreadable(site, error.message());
  std::string text;
  for (const auto& [name, hash] : hashes) text += fmt::format("{} {}\n", hash, name);
  return sha256_hex(std::as_bytes(std::span(text)));
}

std::vector<std::string> names_in_store(const std::vector<Target>& targets, const RunnerOptions& runner) {
  std::map<std::string, std::string> versions;  // by host: asking may start a program
  std::vector<std::string> names;
  for (const Target& target : targets) {
    if (!versions.contains(target.host)) {
      const auto version = version_of(target, runner);
      // Without one nothing will run on it.
      versions[target.host] = version.ok() ? fmt::format(" ({})", *version) : "";
    }
    names.push_back(target.text() + versions[target.host]);
  }
  return names;
}

std::vector<std::string> names_elsewhere(const std::vector<Target>& targets, std::vector<std::string> names) {
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (targets[i].host == default_host()) names[i].clear();
  return names;
}

Status check_names(const std::vector<std::string>& names, const std::vector<Target>& targets,
                   const RunnerOptions& runner) {
  const std::vector<std::string> here = names_in_store(targets, runner);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty() && names[i] != here[i])
      return missing_error(fmt::format(
          "the results are of {}, here it is {}; have the same version on every machine", names[i], here[i]));
  return {};
}

std::string hashes_of(const ModelFile& model) {
  std::string text = fmt::format("model {}\n", model.sha256);
  for (const JobAttachment& file : model.attachments)
    text += fmt::format("{} {}\n", file.location, sha256_hex(file.bytes.source()));
  return text;
}

std::string hashes_of(const NamedInputs& tensors) {
  std::string text;
  for (const NamedTensor& one : tensors)
    text += fmt::format("{} {} {} {}\n", one.name, dtype_name(one.tensor.dtype()),
                        shape_text(one.tensor.shape()), sha256_hex(one.tensor.bytes()));
  return text;
}

Result<std::unique_ptr<CampaignStore>> open_result_store(const std::string& spec, const std::string& kind,
                                                         nlohmann::json fields, const fs::path& given_site) {
  CampaignDefinition definition{kind, std::move(fields), build_id()};
  definition.fields["cpu"] = describe_machine().cpu;
  // Whatever the targets are: others may be added to the store later.
  const auto site = find_site(given_site);
  definition.fields["site_sha256"] = "none";
  if (site.ok()) {
    DRIFTSCOPE_TRY(definition.fields["site_sha256"], site_sha256(*site));
  }
  return open_campaign_store(spec, definition, {.notice = [](const std::string& what) {
                               print_text(stderr, fmt::format("driftscope: {}\n", what));
                             }});
}

}  // namespace driftscope
