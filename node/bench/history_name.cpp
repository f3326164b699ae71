#include "native/bench/history.hpp"

namespace driftscope {

const char* History::file_name() { return "bench-node.sqlite"; }

}  // namespace driftscope
