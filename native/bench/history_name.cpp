#include "native/bench/history.hpp"

namespace driftscope {

const char* History::file_name() { return "bench.sqlite"; }

}  // namespace driftscope
