# All suites, for ctest and for tools/test, which runs them in this order. Labels:
#   tree          checks of the source: nothing need be built
#   unit, native  doctest programs: of the core, of what only the native build has
#   web           WebAssembly under Node
#   e2e           the command line as a whole
#   page          needs the page of the preset web (build/web/site)
#   browser       starts browsers, or a window: and needs the page
#   beside        in tools/test runs in parallel with the others, with the sanitized build
#   acceptance    cases from outside the clone; skipped where they are missing
#   fuzz          the fuzzers
#   frameworks    third-party frameworks in their virtual environments, where tools/setup --frameworks made them
#   long          for as long as one likes: tools/test --long
#
#   ctest --preset dev -L tree
get_filename_component(preset "${CMAKE_BINARY_DIR}" NAME)
get_filename_component(build_folder "${CMAKE_BINARY_DIR}" DIRECTORY)
find_program(NODE_PROGRAM node NO_CMAKE_FIND_ROOT_PATH REQUIRED)
set(node_test "${NODE_PROGRAM}" --test --test-concurrency=1)
# The limit is for a file of tests: where a browser hangs, the others still run and the log names the file.
set(browser_test ${node_test} --test-timeout=780000)

# driftscope_suite(name LABELS … COMMAND … [TIMEOUT seconds]): a test that hangs is a failure.
function(driftscope_suite name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LABELS;COMMAND" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 900)
    if(DRIFTSCOPE_SANITIZE)  # everything takes ten to thirty times as long
      set(ARG_TIMEOUT 2400)
    endif()
    if("browser" IN_LIST ARG_LABELS)  # beside a build, starts of browsers take long
      set(ARG_TIMEOUT 2400)
    endif()
  endif()
  set(environment "DRIFTSCOPE_BUILD=${build_folder}")
  if(DRIFTSCOPE_PLATFORM STREQUAL "native")
    list(APPEND environment "DRIFTSCOPE_PRESET=${preset}")
  endif()
  if(DRIFTSCOPE_SANITIZE)
    list(APPEND environment "LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0")
  endif()
  add_test(NAME "${name}" COMMAND ${ARG_COMMAND} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_tests_properties("${name}" PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "${environment}" SKIP_RETURN_CODE 77)
  if("browser" IN_LIST ARG_LABELS)  # with ctest -j: a browser's start can run with one other, not with five
    set_tests_properties("${name}" PROPERTIES RESOURCE_LOCK browsers)
  endif()
endfunction()

if(DRIFTSCOPE_PLATFORM STREQUAL "web")
  driftscope_suite("unit: WebAssembly under Node" LABELS unit web
    COMMAND "${NODE_PROGRAM}" $<TARGET_FILE:driftscope_unit_tests> --test-suite-exclude=large)
  driftscope_suite("long: large unit tests, WebAssembly" LABELS unit web long
    COMMAND "${NODE_PROGRAM}" $<TARGET_FILE:driftscope_unit_tests> --test-suite=large)
  driftscope_suite("unit: relaxed SIMD under Node" LABELS unit web
    COMMAND "${NODE_PROGRAM}" --experimental-wasm-relaxed-simd $<TARGET_FILE:driftscope_nan_tests_relaxed>)
  # Those of the suite "posix" need what Node lacks: fork, limits and locks of the system, owners of connections.
  driftscope_suite("native parts: WebAssembly under Node" LABELS native web
    COMMAND "${NODE_PROGRAM}" tests/node/run.mjs $<TARGET_FILE:driftscope_node_tests> --test-suite-exclude=posix)
  driftscope_suite("system of the program for Node" LABELS web
    COMMAND "${NODE_PROGRAM}" --test tests/node/system)
  driftscope_suite("service: WebAssembly under Node" LABELS web
    COMMAND "${NODE_PROGRAM}" --test tests/web/node)
  driftscope_suite("npm package: from an empty folder" LABELS web e2e
    COMMAND "${NODE_PROGRAM}" --test tests/web/package/package.test.mjs)
  driftscope_suite("npm package: the program in it" LABELS web e2e
    COMMAND "${NODE_PROGRAM}" --test tests/web/package/program.test.mjs)
  driftscope_suite("wheel: the program in it" LABELS web e2e
    COMMAND "${NODE_PROGRAM}" --test tests/web/package/wheel.test.mjs)
  # Logs every call to the browser: where it hangs, the last one shows in which.
  driftscope_suite("page: in Chromium" LABELS web browser
    COMMAND "${CMAKE_COMMAND}" -E env DEBUG=pw:api ${browser_test} tests/web/page)
  driftscope_suite("npm package: on a page of its own" LABELS web browser
    COMMAND ${browser_test} tests/web/package/own_page.test.mjs)
  driftscope_suite("npm package: the program and a browser" LABELS web browser
    COMMAND ${browser_test} tests/web/package/program_browser.test.mjs)
  return()
endif()

if(DRIFTSCOPE_SANITIZE)
  set(names "unit: native, ASan and UBSan" "native: ASan and UBSan" "end to end: with sanitizers")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(names "unit: native, GCC" "native: server and command line" "end to end: command line")
else()
  set(names "unit: native, Clang" "native: server and command line" "end to end: command line")
endif()
# The sanitized build covers the unit and native tests; the whole program with it takes ten times as long.
set(long_if_sanitized "")
if(DRIFTSCOPE_SANITIZE)
  set(long_if_sanitized long)
endif()
list(GET names 0 unit)
list(GET names 1 native)
list(GET names 2 command_line)

if(NOT DRIFTSCOPE_SANITIZE)
  driftscope_suite("tree: layers and platforms" LABELS tree
    COMMAND python3 tools/checks/layers.py)
  driftscope_suite("tree: the picture of the layers" LABELS tree
    COMMAND tools/draw_house --check)
  driftscope_suite("tree: the check of the layers" LABELS tree
    COMMAND python3 tools/checks/test_layers.py)
  driftscope_suite("tree: stamps of the documents" LABELS tree
    COMMAND tools/docs --check)
  driftscope_suite("tree: the check of the stamps, and tables" LABELS tree
    COMMAND python3 -B -m unittest discover -s tools/docs.d)
  driftscope_suite("tree: the choice of mutants" LABELS tree
    COMMAND python3 -B -m unittest discover -s tests/mutate)
  driftscope_suite("tree: trying models from packages" LABELS tree
    COMMAND python3 -B -m unittest discover -s tests/wild)
  driftscope_suite("tree: the museum's exhibits" LABELS tree
    COMMAND python3 -B -m unittest discover -s tests/museum)
  driftscope_suite("tree: formatting" LABELS tree
    COMMAND tools/format --check)
  driftscope_suite("tree: eslint" LABELS tree
    COMMAND tools/lint)
  driftscope_suite("tree: pins of downloads" LABELS tree
    COMMAND "${NODE_PROGRAM}" --test tests/setup)
  driftscope_suite("tree: documents" LABELS tree
    COMMAND "${NODE_PROGRAM}" --test tests/documents)
endif()
# Cases of the suite "large", of many draws or layers, take minutes with sanitizers and as WebAssembly; what they call,
# smaller ones call too.
if(DRIFTSCOPE_SANITIZE)
  driftscope_suite("${unit}" LABELS unit
    COMMAND driftscope_unit_tests --test-suite-exclude=large)
  driftscope_suite("long: large unit tests, ASan and UBSan" LABELS unit long
    COMMAND driftscope_unit_tests --test-suite=large)
else()
  driftscope_suite("${unit}" LABELS unit
    COMMAND driftscope_unit_tests)
endif()
if(TARGET driftscope_faults)
  driftscope_suite("planted faults: a seed of each kind" LABELS unit
    COMMAND driftscope_faults)
endif()
driftscope_suite("${native}" LABELS native
  COMMAND driftscope_native_tests)
driftscope_suite("${command_line}" LABELS e2e page ${long_if_sanitized} TIMEOUT 2400
  COMMAND ${node_test} tests/e2e/cli)
driftscope_suite("end to end: TensorFlow.js under Node" LABELS e2e page ${long_if_sanitized}
  COMMAND ${node_test} tests/e2e/tfjs)
if(DRIFTSCOPE_FUZZ)
  # A fixed seed: what a change is judged by does not depend on the day. tools/fuzz takes another every day.
  set(fuzz tools/fuzz --seed 1 --jobs 1 --build "${CMAKE_BINARY_DIR}" --work "${CMAKE_BINARY_DIR}/fuzzing")
  driftscope_suite("fuzzers: their corpora, and five seconds of each" LABELS fuzz
    COMMAND ${fuzz} --seconds 5)
  driftscope_suite("long: a minute of each fuzzer" LABELS fuzz long TIMEOUT 3000
    COMMAND ${fuzz})
endif()
if(NOT DRIFTSCOPE_SANITIZE)
  if(TARGET driftscope_extended)
    driftscope_suite("end to end: engines of the tests" LABELS e2e page
      COMMAND ${node_test} tests/engines)
  endif()
  # Debian's Python, not one of the PATH: its NumPy is a package.
  driftscope_suite("Python: the package" LABELS e2e
    COMMAND /usr/bin/python3 tests/python/run_unit.py)
  driftscope_suite("Python: recorders against the frameworks" LABELS frameworks TIMEOUT 1800
    COMMAND tests/python/run_frameworks)
  driftscope_suite("Python: ONNX Runtime's operators, many nodes" LABELS frameworks long TIMEOUT 3600
    COMMAND "${CMAKE_COMMAND}" -E env DRIFTSCOPE_CASES=100 tests/python/run_frameworks contrib_operators)
  driftscope_suite("end to end: three browsers" LABELS e2e browser
    COMMAND ${browser_test} tests/e2e/browsers)
  driftscope_suite("end to end: the screens" LABELS e2e browser beside
    COMMAND ${browser_test} tests/e2e/gui)
  driftscope_suite("soak: its rules" LABELS e2e
    COMMAND ${node_test} tests/soak/tests/trend.test.mjs)
  driftscope_suite("long: soak, a minute of a server" LABELS e2e browser long
    COMMAND ${node_test} tests/soak/tests/smoke.test.mjs)
  driftscope_suite("long: every shader on Dawn" LABELS native long
    COMMAND driftscope_native_tests --no-skip "-tc=Gpu_EveryWgslVariant*")
  driftscope_suite("long: every shader in three browsers" LABELS e2e browser long TIMEOUT 3600
    COMMAND ${browser_test} tests/e2e/shaders)
  # Fetches Zig and auditwheel from the index of Python's packages.
  driftscope_suite("long: the wheel with the native program" LABELS e2e long TIMEOUT 3600
    COMMAND ${node_test} tests/packaging/native_wheel.test.mjs)
  # Skips its tests where tools/setup --grid was not run.
  driftscope_suite("long: a grid of browsers" LABELS e2e browser long
    COMMAND ${browser_test} tests/e2e/grid)
  # Skipped where tools/setup --cluster was not run.
  driftscope_suite("long: a cluster of Dask" LABELS e2e long TIMEOUT 3600
    COMMAND tests/python/run_cluster)
  # Fetches releases of runtimes from npm.
  driftscope_suite("long: the museum" LABELS e2e browser long TIMEOUT 7200
    COMMAND tools/museum)
  # Reads the digests of the presets native, native-asan and web, and of native-clang where it is built.
  driftscope_suite("end to end: bit identity" LABELS e2e browser beside
    COMMAND ${browser_test} tests/e2e/bits)
  driftscope_suite("acceptance: operators that exist" LABELS acceptance
    COMMAND python3 tools/checks/accept.py "${CMAKE_SOURCE_DIR}/../shared/accept" $<TARGET_FILE:driftscope>)
  driftscope_suite("long: clang-tidy" LABELS tree long TIMEOUT 7200
    COMMAND tools/lint --tidy --all)
  # Missing includes go unnoticed where files are compiled together.
  driftscope_suite("long: every file by itself" LABELS long TIMEOUT 7200
    COMMAND bash -c "cmake -S . -B \"$0\" -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_BUILD_TYPE=Debug \
-DDRIFTSCOPE_WERROR=ON -DDRIFTSCOPE_UNITY=OFF -DDRIFTSCOPE_PRECOMPILE=OFF && ninja -C \"$0\"" "${build_folder}/alone")
  driftscope_suite("long: 200 mutants" LABELS long TIMEOUT 14400
    COMMAND tools/mutate --count 200 --seed 33)
  driftscope_suite("long: all 2^32 floats" LABELS long TIMEOUT 14400
    COMMAND driftscope_all_floats)
endif()
