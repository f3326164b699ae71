// Headers that nearly every file of the project includes, parsed once per target (cmake/unity.cmake). Files
// still include what they use: without DRIFTSCOPE_UNITY this is not there.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/platform/platform.hpp"
