# The engine ort: its version is pinned in package.json, for native and wasm; the native one is compiled
# against the C API's header (tools/setup fetches it) and loads the library at run time.
file(READ "${CMAKE_SOURCE_DIR}/package.json" package_json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/package.json")
string(JSON DRIFTSCOPE_ONNXRUNTIME_VERSION GET "${package_json}" devDependencies onnxruntime-web)
string(JSON onnxruntime_node_version GET "${package_json}" devDependencies onnxruntime-node)
if(NOT DRIFTSCOPE_ONNXRUNTIME_VERSION STREQUAL onnxruntime_node_version)
  message(FATAL_ERROR "package.json: onnxruntime-web is ${DRIFTSCOPE_ONNXRUNTIME_VERSION}, "
    "onnxruntime-node ${onnxruntime_node_version}; the native and the web build must have the same version.")
endif()

set(ort_files "")
if(DRIFTSCOPE_PLATFORM STREQUAL "native")  # browser builds have no C++ code for single peers
  find_path(ONNXRUNTIME_HEADERS onnxruntime_c_api.h
    HINTS "$ENV{DRIFTSCOPE_ONNXRUNTIME_HEADERS}" PATH_SUFFIXES onnxruntime)
  if(ONNXRUNTIME_HEADERS)
    set(ort_files "${CMAKE_SOURCE_DIR}/native/peers/ort/backend.cpp"
      "${CMAKE_SOURCE_DIR}/native/peers/ort/library.cpp"
      "${CMAKE_SOURCE_DIR}/native/peers/ort/output_file.cpp")
  else()
    message(STATUS "onnxruntime_c_api.h was not found (run tools/setup): without the engine pc/ort")
    set(ort_files "${CMAKE_SOURCE_DIR}/native/peers/ort/absent.cpp")
  endif()
endif()

# Its sources and what they need.
function(driftscope_engine_ort core)
  target_sources(${core}_objects PRIVATE ${ort_files})
  if(ONNXRUNTIME_HEADERS)  # only for these files: other objects need not depend on its location
    set_property(SOURCE ${ort_files} APPEND PROPERTY
      COMPILE_OPTIONS "-isystem${ONNXRUNTIME_HEADERS}")
  endif()
  set_property(SOURCE "${CMAKE_SOURCE_DIR}/core/engines/ort/engine.cpp" APPEND PROPERTY
    COMPILE_DEFINITIONS "DRIFTSCOPE_ONNXRUNTIME_VERSION=\"${DRIFTSCOPE_ONNXRUNTIME_VERSION}\""
    "DRIFTSCOPE_NODE_PLATFORM=\"${DRIFTSCOPE_NODE_PLATFORM}\"")
  set_property(SOURCE "${CMAKE_SOURCE_DIR}/native/peers/ort/library.cpp" APPEND PROPERTY
    COMPILE_DEFINITIONS "DRIFTSCOPE_NODE_PLATFORM=\"${DRIFTSCOPE_NODE_PLATFORM}\"")
endfunction()

# onnxruntime-web, only its CPU build: EngineInfo::browser_files.
function(driftscope_site_ort)
  set(ort_folder "${CMAKE_SOURCE_DIR}/node_modules/onnxruntime-web/dist")
  file(GLOB ort_file CONFIGURE_DEPENDS "${ort_folder}/ort.wasm.bundle.min.mjs")  # it may appear later
  if(ort_file)
    foreach(file ort.wasm.bundle.min.mjs ort-wasm-simd-threaded.wasm)
      driftscope_site_file("${ort_folder}/${file}" "ort/${file}")
    endforeach()
    driftscope_compress(ort "${DRIFTSCOPE_SITE}/ort/ort-wasm-simd-threaded.wasm"
      "${DRIFTSCOPE_SITE}/ort/ort-wasm-simd-threaded.wasm")
  else()
    message(STATUS "node_modules lacks onnxruntime-web (run tools/setup): the site comes without ort")
  endif()
endfunction()
