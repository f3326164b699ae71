#include "native/campaign/postgres_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace driftscope::postgres {
namespace {

constexpr const char* library_variable = "DRIFTSCOPE_LIBPQ";

Error missing_libpq(std::string_view what) {
  return missing_error(fmt::format(
      "PostgreSQL's client library: {}; install it (Debian, Ubuntu: apt install libpq5; Fedora: dnf "
      "install libpq), or name a copy of it with {}",
      what, library_variable));
}

Result<Library> load_libpq() {
  const char* const given = std::getenv(library_variable);
  const std::string name = given != nullptr && *given != '\0' ? given : "libpq.so.5";
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return missing_libpq(dlerror());
  Library made;
  const char* lacking = nullptr;
#define DRIFTSCOPE_FIND(member, function, ...)                                     \
  made.member = reinterpret_cast<decltype(made.member)>(dlsym(handle, #function)); \
  if (made.member == nullptr) lacking = #function;
  DRIFTSCOPE_LIBPQ_FUNCTIONS(DRIFTSCOPE_FIND)
#undef DRIFTSCOPE_FIND
  if (lacking != nullptr) return missing_libpq(fmt::format("{} lacks {}", name, lacking));
  return made;
}

}  // namespace

Result<const Library*> library() {
  static const Result<Library> loaded = load_libpq();
  if (!loaded.ok()) return loaded.error();
  return &*loaded;
}

}  // namespace driftscope::postgres
