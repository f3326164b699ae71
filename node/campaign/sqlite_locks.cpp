#include "native/campaign/sqlite_connection.hpp"

namespace driftscope {

const char* sqlite_locks() { return "Node"; }

}  // namespace driftscope
