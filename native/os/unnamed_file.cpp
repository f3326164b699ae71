#include "native/os/unnamed_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace driftscope {
namespace {

FileDescriptor open_in(const std::string& folder) {
  FileDescriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600));
  if (file.get() >= 0) return file;
  // Some file systems have no files without a name.
  std::string path = folder + "/driftscope-XXXXXX";
  file = FileDescriptor(::mkostemp(path.data(), O_CLOEXEC));
  if (file.get() >= 0) ::unlink(path.c_str());
  return file;
}

}  // namespace

Result<FileDescriptor> open_unnamed_file() {
  const char* const given = std::getenv("TMPDIR");
  for (const std::string folder : {given != nullptr ? given : "", "/var/tmp", "/tmp"}) {
    if (folder.empty()) continue;
    if (FileDescriptor file = open_in(folder); file.get() >= 0) return file;
  }
  return io_error(system_message());
}

}  // namespace driftscope
