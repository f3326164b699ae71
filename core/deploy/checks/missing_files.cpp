// Files that the page names and the server does not have, those with the model's external data included.
#include <fmt/format.h>

#include "core/deploy/deploy_check.hpp"

namespace driftscope::deploy_checks::missing_files {

namespace {

std::vector<DeployFinding> find(const DeployContext& context) {
  std::vector<DeployFinding> findings;
  for (const PageFile& file : context.page->files) {
    if (file.ok() || file.role == PageRole::page) continue;
    const bool is_data = file.role == PageRole::data;
    findings.push_back(
        {.severity = file.guessed ? DeploySeverity::note : DeploySeverity::error,
         .where = file.url,
         .shows = file.guessed ? fmt::format("a {} that a script names is not where its name says",
                                             role_name(file.role))
                  : is_data    ? std::string("the model does not load: a file with its weights does not come")
                               : fmt::format("a {} of the page does not come", role_name(file.role)),
         .why = fmt::format("{}; {} names it{}",
                            file.status == 0 ? file.failure : fmt::format("status {}", file.status),
                            file.named_by, file.guessed ? ", and may put a folder before it" : ""),
         .fix = "upload the file under exactly this name (upper and lower case count), or correct the name"});
  }
  if (context.page->incomplete)
    findings.push_back(
        {.severity = DeploySeverity::note,
         .where = context.page->page().url,
         .shows = "not all files were looked at",
         .why = fmt::format("the page names more than the {} that were fetched, or they took too long",
                            context.page->files.size()),
         .fix = ""});
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "missing_files", .about = "files that are not there", .of_model = false, .find = find});
}

}  // namespace driftscope::deploy_checks::missing_files
