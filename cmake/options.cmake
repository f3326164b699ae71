# Compile options of every target of the project.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

add_library(driftscope_options INTERFACE)
target_include_directories(driftscope_options INTERFACE "${CMAKE_SOURCE_DIR}")
target_compile_options(driftscope_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual $<$<BOOL:${DRIFTSCOPE_WERROR}>:-Werror>
  # The same bits everywhere: no product and sum is ever fused into one rounding.
  -ffp-contract=off)

# How the files of simd/ are optimised where that differs from the rest, and the cold layers (core/layers.txt).
# Unoptimised, the whole compiles three times as fast; where a run spends its time is optimised in every build.
set(simd_options "")
set(cold_options "")
set(operator_options "")
if(DRIFTSCOPE_PLATFORM STREQUAL "web")
  set(cold_options -Oz)
  # A visitor fetches it all. Operators are templates for three kinds of numbers; with LLVM's own limits of inlining and
  # unrolling they are an eighth larger.
  set(operator_options -fno-unroll-loops "SHELL:-mllvm -inline-threshold=75")
elseif(DRIFTSCOPE_OPTIMIZE)
  set(cold_options -O1)
endif()
if(NOT DRIFTSCOPE_OPTIMIZE)
  set(simd_options -O1)
endif()
set(DRIFTSCOPE_SIMD_OPTIONS "${simd_options}" CACHE STRING "Options for kernels that are compiled once per instruction set")
set(DRIFTSCOPE_OPERATOR_OPTIONS "${operator_options}" CACHE STRING "Options for core/ops")
set(DRIFTSCOPE_COLD_OPTIONS "${cold_options}" CACHE STRING "Options for layers that prepare text and pictures")

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # By default GCC collects garbage repeatedly, a tenth of the time for a large unit. A gigabyte
  # for each of three compilers at once is less than the browsers use in the tests.
  target_compile_options(driftscope_options INTERFACE --param=ggc-min-heapsize=1000000)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Reproducible precompiled headers, so that ccache recognises what was made with them.
  target_compile_options(driftscope_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()
if(DRIFTSCOPE_PLATFORM STREQUAL "web")
  # Offsets are int64 everywhere, size_t has 32 bits. That a tensor fits into memory was checked when it
  # was created, so narrowing an offset inside it loses nothing.
  target_compile_options(driftscope_options INTERFACE
    -Wno-shorten-64-to-32 -Wno-c++11-narrowing)
endif()

# What is shipped: writes beyond a buffer end the program, and no table of addresses can be written.
if(DRIFTSCOPE_PLATFORM STREQUAL "native" AND NOT DRIFTSCOPE_SANITIZE)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  target_compile_options(driftscope_options INTERFACE -fstack-protector-strong)
  target_link_options(driftscope_options INTERFACE LINKER:-z,relro,-z,now LINKER:-z,noexecstack)
  if(DRIFTSCOPE_OPTIMIZE)  # it needs optimised code
    target_compile_options(driftscope_options INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  endif()
endif()

if(DRIFTSCOPE_SANITIZE)
  target_compile_options(driftscope_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -fno-pie)
  # UBSan's data is full of addresses: a program of fixed place is a quarter smaller, and gold links it in a third of
  # the time.
  target_link_options(driftscope_options INTERFACE -fsanitize=address,undefined -no-pie)
  find_program(GOLD_LINKER ld.gold)
  if(GOLD_LINKER)
    target_link_options(driftscope_options INTERFACE -fuse-ld=gold)
  endif()
endif()
# The coverage that libFuzzer steers by; tests/fuzz links its main(). Of functions: hardly slower to compile than none,
# enough to run the corpora. Of edges: each comparison is looked at as well, for long runs.
set(DRIFTSCOPE_COVERAGE edges CACHE STRING "What the fuzzers count: functions or edges")
if(DRIFTSCOPE_FUZZ)
  if(DRIFTSCOPE_COVERAGE STREQUAL "functions")
    set(coverage -fsanitize-coverage=func,inline-8bit-counters,pc-table)
  elseif(DRIFTSCOPE_COVERAGE STREQUAL "edges")
    set(coverage -fsanitize=fuzzer-no-link)
  else()
    message(FATAL_ERROR "DRIFTSCOPE_COVERAGE is ${DRIFTSCOPE_COVERAGE}; it is functions or edges")
  endif()
  target_compile_options(driftscope_options INTERFACE ${coverage})
  target_link_options(driftscope_options INTERFACE ${coverage})
endif()
