# The engines litert-wasm, litert-webgpu and litert-webnn: LiteRT.js of the version that package.json pins.
file(READ "${CMAKE_SOURCE_DIR}/package.json" litert_package)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/package.json")
string(JSON DRIFTSCOPE_LITERT_VERSION GET "${litert_package}" devDependencies @litertjs/core)

function(driftscope_engine_litert core)
  set_property(SOURCE "${CMAKE_SOURCE_DIR}/core/engines/litert/litert.cpp" APPEND PROPERTY
    COMPILE_DEFINITIONS "DRIFTSCOPE_LITERT_VERSION=\"${DRIFTSCOPE_LITERT_VERSION}\"")
endfunction()

# A copy of a file of the package in the site, with a text replaced.
function(driftscope_litert_file source target old new)
  set_property(DIRECTORY "${CMAKE_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(READ "${source}" text)
  string(FIND "${text}" "${old}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "${source} lacks '${old}': LiteRT.js has changed, see core/engines/litert/engine.cmake.")
  endif()
  string(REPLACE "${old}" "${new}" text "${text}")
  driftscope_write_if_changed("${DRIFTSCOPE_GENERATED_DIR}/litert/${target}" "${text}")
  driftscope_site_file("${DRIFTSCOPE_GENERATED_DIR}/litert/${target}" "litert/${target}")
endfunction()

# EngineInfo::browser_files of the three. LiteRT.js is an ES module that names its only dependency without a path;
# the scripts of its WebAssembly builds set a variable, which would be a module's own where they are imported.
function(driftscope_site_litert)
  set(packages "${CMAKE_SOURCE_DIR}/node_modules/@litertjs")
  file(GLOB found CONFIGURE_DEPENDS "${packages}/core/dist/index.js")  # it may appear later
  if(NOT found)
    message(STATUS "node_modules lacks @litertjs/core (run tools/setup): the site comes without LiteRT.js")
    return()
  endif()
  driftscope_litert_file("${packages}/core/dist/index.js" litert.mjs "\"@litertjs/wasm-utils\"" "\"./wasm_utils.mjs\"")
  driftscope_site_file("${packages}/wasm-utils/dist/index.js" litert/wasm_utils.mjs)
  foreach(build litert_wasm_internal litert_wasm_compat_internal litert_wasm_threaded_internal
      litert_wasm_jspi_internal)
    driftscope_litert_file("${packages}/core/wasm/${build}.js" "${build}.js" "var ModuleFactory ="
      "globalThis.ModuleFactory =")
    driftscope_site_file("${packages}/core/wasm/${build}.wasm" "litert/${build}.wasm")
    driftscope_compress(${build} "${DRIFTSCOPE_SITE}/litert/${build}.wasm" "${DRIFTSCOPE_SITE}/litert/${build}.wasm")
  endforeach()
endfunction()
