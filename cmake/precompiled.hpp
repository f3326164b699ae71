// Headers that nearly every file of the project includes, parsed once per target (cmake/unity.cmake). Files
// still include what they use: without DRIFTSCOPE_UNITY this is not there. None of our own: ccache returns a
// precompiled header made before a change of comments, and GCC then takes the header for another one.
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
