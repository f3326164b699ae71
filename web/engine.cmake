# The engine as ES modules, and the folder that a server serves: build/web/site.
# Strict Content-Security-Policy: no eval (DYNAMIC_EXECUTION=0), workers from the same origin.
set(DRIFTSCOPE_SITE "${CMAKE_BINARY_DIR}/site")
include("${CMAKE_SOURCE_DIR}/cmake/compress.cmake")

# Linked without Binaryen's optimiser, which gains nothing over LLVM's optimisations and takes half a minute
# of processor time for each engine: shortest runs of strict and fast with and without it differ by -1 to 3 %,
# like repeated runs of the same file (LeNet-5, ResNet-20, TextCNN, LSTM, VGG-16 in Chromium; three of them in
# Firefox and WebKitGTK). The file is larger by a ninth, compressed it is smaller by a hundredth.
set(heap_limit "${CMAKE_CURRENT_SOURCE_DIR}/platform/heap_limit.js")
# An engine is served in two files: what usual runs call, and all the rest, fetched when it is called
# (docs/build.md). Which functions are usual is counted in the first of the engines.
option(DRIFTSCOPE_SPLIT_ENGINES "Whether the page's engines are split; otherwise each is one file" ON)
set(linked "${CMAKE_BINARY_DIR}/linked")
set(usual_functions "${linked}/usual_functions.txt")
if(DRIFTSCOPE_SPLIT_ENGINES)
  execute_process(COMMAND em-config BINARYEN_ROOT OUTPUT_VARIABLE binaryen
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  find_program(WASM_SPLIT wasm-split HINTS "${binaryen}/bin" NO_CMAKE_FIND_ROOT_PATH REQUIRED)
endif()
function(driftscope_add_engine name core xnnpack)
  add_executable(${name} worker/entry.cpp)
  target_link_libraries(${name} PRIVATE ${core})
  if(TARGET ${xnnpack})  # unless the engine fast is left out
    target_link_libraries(${name} PRIVATE ${xnnpack})
  endif()
  target_link_options(${name} PRIVATE
    -O1 --no-entry
    -sMODULARIZE=1 -sEXPORT_ES6=1 -sENVIRONMENT=web,worker,node -sDYNAMIC_EXECUTION=0
    # By default the heap grows by at least a fifth, part of which is never used.
    -sALLOW_MEMORY_GROWTH=1 -sMEMORY_GROWTH_GEOMETRIC_STEP=0.02
    -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=1MB -sFILESYSTEM=0
    -sEXPORTED_RUNTIME_METHODS=wasmMemory -sINCOMING_MODULE_JS_API=pthreadPoolSize,locateFile
    "SHELL:--js-library ${heap_limit}"
    ${ARGN})
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "${heap_limit}")
  set(output "${DRIFTSCOPE_SITE}/engine")
  if(DRIFTSCOPE_SPLIT_ENGINES)
    driftscope_split_engine(${name})
    driftscope_compress(${name}.more "${output}/${name}.more.wasm" ${name} BEST)
  else()
    set_target_properties(${name} PROPERTIES SUFFIX ".mjs" RUNTIME_OUTPUT_DIRECTORY "${output}")
  endif()
  add_custom_command(TARGET ${name} POST_BUILD COMMAND "${NODE_PROGRAM}"
    "${CMAKE_SOURCE_DIR}/cmake/name_build.mjs" "${output}/${name}.wasm" VERBATIM)
  driftscope_compress(${name} "${output}/${name}.wasm" ${name} BEST)
endfunction()

# Of the linked engine, with the names of its functions, the two files of the site.
function(driftscope_split_engine name)
  # The first 64 KiB of memory are for the counters.
  target_link_options(${name} PRIVATE --profiling-funcs -sGLOBAL_BASE=65536)
  set_target_properties(${name} PROPERTIES SUFFIX ".mjs" RUNTIME_OUTPUT_DIRECTORY "${linked}")
  set(scripts "")
  foreach(script profile_engine split_engine wasm_file)
    list(APPEND scripts "${CMAKE_SOURCE_DIR}/cmake/${script}.mjs")
  endforeach()
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "${scripts}")
  if(NOT TARGET usual_functions)
    add_custom_command(TARGET ${name} POST_BUILD COMMAND "${NODE_PROGRAM}"
      "${CMAKE_SOURCE_DIR}/cmake/profile_engine.mjs" "${WASM_SPLIT}" "${linked}/${name}.mjs"
      "${DRIFTSCOPE_GENERATED_DIR}/protocol/messages.mjs" "${CMAKE_SOURCE_DIR}/assets/models" "${usual_functions}"
      VERBATIM COMMENT "Counting which functions usual runs call")
    add_custom_target(usual_functions DEPENDS ${name})
  else()
    add_dependencies(${name} usual_functions)
  endif()
  add_custom_command(TARGET ${name} POST_BUILD
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${DRIFTSCOPE_SITE}/engine"
    COMMAND "${NODE_PROGRAM}" "${CMAKE_SOURCE_DIR}/cmake/split_engine.mjs" "${WASM_SPLIT}" "${usual_functions}"
      "${linked}/${name}.mjs" "${DRIFTSCOPE_SITE}/engine"
    VERBATIM COMMENT "Splitting ${name}")
endfunction()

# Workers are made before the engine starts: making them later needs the event loop, which a running
# request blocks. STRICT=2: asking for more than that is an error rather than an endless wait.
set(thread_options "-sPTHREAD_POOL_SIZE=Module['pthreadPoolSize']" -sPTHREAD_POOL_SIZE_STRICT=2
  -sDEFAULT_PTHREAD_STACK_SIZE=256KB -Wno-pthreads-mem-growth)

# SIMD128 and relaxed SIMD differ in XNNPACK's kernels alone (web/worker/engine.mjs lists the four).
set(engines "")
foreach(simd simd relaxed)
  driftscope_add_engine(driftscope-${simd}-threads driftscope_core driftscope_xnnpack_${simd}
    ${thread_options})
  driftscope_add_engine(driftscope-${simd} driftscope_core_single driftscope_xnnpack_${simd})
  list(APPEND engines driftscope-${simd} driftscope-${simd}-threads)
endforeach()

# The GUI, on a canvas of the page: a module of its own, which runs no model.
if(DRIFTSCOPE_HAS_GUI)
  driftscope_add_ui(driftscope_ui driftscope_core_single)
  target_include_directories(driftscope_ui PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/gui/include")
  file(GLOB gui_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/gui/*.cpp")
  add_executable(driftscope-gui ${gui_sources})
  target_link_libraries(driftscope-gui PRIVATE driftscope_ui)
  target_link_options(driftscope-gui PRIVATE
    -Oz --no-entry -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2
    -sMODULARIZE=1 -sEXPORT_ES6=1 -sENVIRONMENT=web -sDYNAMIC_EXECUTION=0
    -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=1MB -sFILESYSTEM=0
    -sEXPORTED_FUNCTIONS=_malloc,_free
    -sEXPORTED_RUNTIME_METHODS=wasmMemory,stringToNewUTF8,UTF8ToString
    -sINCOMING_MODULE_JS_API=canvas,locateFile)
  set_target_properties(driftscope-gui PROPERTIES
    SUFFIX ".mjs" RUNTIME_OUTPUT_DIRECTORY "${DRIFTSCOPE_SITE}/gui")
  driftscope_compress(driftscope-gui "${DRIFTSCOPE_SITE}/gui/driftscope-gui.wasm" driftscope-gui BEST)
  list(APPEND engines driftscope-gui)
endif()

# What is served alongside the engine, in the same folders, copied whenever it changes.
file(GLOB_RECURSE page_files CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}"
  "${CMAKE_CURRENT_SOURCE_DIR}/*.mjs" "${CMAKE_CURRENT_SOURCE_DIR}/*.css"
  "${CMAKE_CURRENT_SOURCE_DIR}/*.svg" "${CMAKE_CURRENT_SOURCE_DIR}/*.png"
  "${CMAKE_CURRENT_SOURCE_DIR}/*.webmanifest")
list(FILTER page_files EXCLUDE REGEX "^web/npm/")
list(APPEND page_files web/page/start.js)
# Files from an earlier build that this one lacks would be listed as a part of the site.
file(GLOB_RECURSE served RELATIVE "${DRIFTSCOPE_SITE}" "${DRIFTSCOPE_SITE}/web/*")
foreach(file IN LISTS served)
  if(NOT file IN_LIST page_files)
    file(REMOVE "${DRIFTSCOPE_SITE}/${file}")
  endif()
endforeach()
# With the folders of data: studies run over them.
file(GLOB_RECURSE asset_files CONFIGURE_DEPENDS
  "${CMAKE_SOURCE_DIR}/assets/models/*" "${CMAKE_SOURCE_DIR}/assets/data/*")
# driftscope_site_file(source target): `target` below the site's folder.
# Of npm's packages it is noted which (driftscope_runtime_files): who installs ours has them from there.
function(driftscope_site_file source target)
  set(modules "${CMAKE_SOURCE_DIR}/node_modules/")
  cmake_path(IS_PREFIX modules "${source}" in_modules)
  if(in_modules)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${modules}" OUTPUT_VARIABLE in_package)
    set_property(GLOBAL APPEND_STRING PROPERTY DRIFTSCOPE_RUNTIME_FILES "${target}|${in_package}\n")
  endif()
  add_custom_command(OUTPUT "${DRIFTSCOPE_SITE}/${target}"
    COMMAND "${CMAKE_COMMAND}" -E copy "${source}" "${DRIFTSCOPE_SITE}/${target}"
    DEPENDS "${source}" VERBATIM COMMENT "")
  set_property(GLOBAL APPEND PROPERTY DRIFTSCOPE_SITE_FILES "${DRIFTSCOPE_SITE}/${target}")
endfunction()
list(TRANSFORM page_files PREPEND "${CMAKE_SOURCE_DIR}/" OUTPUT_VARIABLE page_sources)
list(FILTER page_sources INCLUDE REGEX "\\.mjs$")
add_custom_command(OUTPUT "${DRIFTSCOPE_SITE}/index.html"
  COMMAND "${NODE_PROGRAM}" "${CMAKE_SOURCE_DIR}/cmake/preload_modules.mjs"
    "${CMAKE_SOURCE_DIR}/index.html" "${CMAKE_SOURCE_DIR}" "${DRIFTSCOPE_SITE}/index.html"
  DEPENDS "${CMAKE_SOURCE_DIR}/index.html" "${CMAKE_SOURCE_DIR}/cmake/preload_modules.mjs" ${page_sources}
  VERBATIM COMMENT "")
set_property(GLOBAL APPEND PROPERTY DRIFTSCOPE_SITE_FILES "${DRIFTSCOPE_SITE}/index.html")
# Answered by `driftscope serve` itself; on a static host the file says where the page is hosted.
driftscope_site_file("${CMAKE_CURRENT_SOURCE_DIR}/page/static_session.json" api/session)
foreach(file IN LISTS page_files)
  driftscope_site_file("${CMAKE_SOURCE_DIR}/${file}" "${file}")
endforeach()
foreach(file IN LISTS asset_files)
  file(RELATIVE_PATH name "${CMAKE_SOURCE_DIR}" "${file}")
  driftscope_site_file("${file}" "${name}")
endforeach()

# What others wrote of it, and under which licences; the page links to it.
include(licences)
driftscope_notices(page notices)
driftscope_site_file("${notices}" licences.txt)

# The schema of messages, for web/worker/client.mjs.
driftscope_site_file("${DRIFTSCOPE_GENERATED_DIR}/protocol/messages.mjs" engine/messages.mjs)
# Files that engines need in addition to the common module.
driftscope_call_engines(driftscope_site)
get_property(site_files GLOBAL PROPERTY DRIFTSCOPE_SITE_FILES)

# The page cannot list a folder, so a list of the models is served as well.
set(models ${asset_files})
list(FILTER models INCLUDE REGEX "/models/[^/]+\\.onnx$")
add_custom_command(OUTPUT "${DRIFTSCOPE_SITE}/assets/models.json"
  COMMAND "${NODE_PROGRAM}" "${CMAKE_SOURCE_DIR}/cmake/list_models.mjs"
    "${DRIFTSCOPE_SITE}/assets/models.json" ${models}
  DEPENDS ${models} "${CMAKE_SOURCE_DIR}/cmake/list_models.mjs" VERBATIM COMMENT "")
list(APPEND site_files "${DRIFTSCOPE_SITE}/assets/models.json")

# Nor can it query engines for their names before it has loaded them.
add_custom_command(OUTPUT "${DRIFTSCOPE_SITE}/web/engines.json"
  COMMAND "${NODE_PROGRAM}" "${CMAKE_SOURCE_DIR}/cmake/list_engines.mjs"
    "${DRIFTSCOPE_SITE}/web/engines.json" "${DRIFTSCOPE_SITE}/engine"
  DEPENDS driftscope-simd "${DRIFTSCOPE_SITE}/engine/messages.mjs" "${CMAKE_SOURCE_DIR}/cmake/list_engines.mjs" VERBATIM COMMENT "")
list(APPEND site_files "${DRIFTSCOPE_SITE}/web/engines.json")

# For static hosts: the service worker, with the list of all files that it may serve.
set(worker "${CMAKE_CURRENT_SOURCE_DIR}/page/service_worker.js")
add_custom_command(OUTPUT "${DRIFTSCOPE_SITE}/service_worker.js"
  COMMAND "${NODE_PROGRAM}" "${CMAKE_SOURCE_DIR}/cmake/list_site.mjs" "${worker}" "${DRIFTSCOPE_SITE}"
  DEPENDS "${worker}" "${CMAKE_SOURCE_DIR}/cmake/list_site.mjs" ${site_files} ${engines} VERBATIM
  COMMENT "")

add_custom_target(site ALL DEPENDS ${site_files} "${DRIFTSCOPE_SITE}/service_worker.js")
add_dependencies(site ${engines})
