#include "native/campaign/postgres_library.hpp"

namespace driftscope::postgres {

Result<const Library*> library() {
  return unsupported(
      "PostgreSQL is for the native program alone, as its client library cannot be loaded under Node; name a "
      "file, or sqlite:FILE.db");
}

}  // namespace driftscope::postgres
