// Files that come uncompressed though the request accepted br and gzip.
#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/deploy/deploy_check.hpp"

namespace driftscope::deploy_checks::compression {

namespace {

/// Below it a transfer is a matter of round trips.
constexpr std::int64_t smallest = 100'000;

struct Uncompressed {
  std::string first;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  bool all_known = true;
};

std::vector<DeployFinding> find(const DeployContext& context) {
  Uncompressed code;
  Uncompressed models;
  for (const PageFile& file : context.page->files) {
    const std::string_view coding = file.header("content-encoding");
    if (!file.ok() || (!coding.empty() && coding != "identity")) continue;
    if (file.bytes && *file.bytes < smallest) continue;
    if (file.media_type() == "text/html" && file.role != PageRole::page) continue;
    Uncompressed& one = file.role == PageRole::model || file.role == PageRole::data ? models : code;
    if (one.count++ == 0) one.first = file.url;
    one.bytes += file.bytes.value_or(0);
    one.all_known = one.all_known && file.bytes;
  }
  const auto size = [](const Uncompressed& files) {
    return files.all_known ? format_bytes(files.bytes) : std::string("of unknown size");
  };
  std::vector<DeployFinding> findings;
  if (code.count > 0)
    findings.push_back(
        {.severity = DeploySeverity::warning,
         .where = code.first,
         .count = code.count,
         .shows = "the first visit downloads more than it must before the engine starts",
         .why = fmt::format("{} come without Content-Encoding, though br and gzip were accepted", size(code)),
         .fix = "let the server compress .wasm, .js and .html, best once, when they are built (br)"});
  if (models.count > 0)
    findings.push_back(
        {.severity = DeploySeverity::note,
         .where = models.first,
         .count = models.count,
         .shows = "the model is downloaded as it is",
         .why = fmt::format("{} come without Content-Encoding; how much that saves depends on the "
                            "weights (float32 little, quantized ones more)",
                            size(models)),
         .fix = "try: brotli -k MODEL, and compare the sizes"});
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add(
      {.name = "compression", .about = "files that come uncompressed", .of_model = false, .find = find});
}

}  // namespace driftscope::deploy_checks::compression
