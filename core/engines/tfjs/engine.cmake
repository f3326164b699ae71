# The engines tfjs-cpu, tfjs-wasm, tfjs-webgl and tfjs-webgpu: TensorFlow.js of the version that package.json pins.
file(READ "${CMAKE_SOURCE_DIR}/package.json" tfjs_package)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/package.json")
string(JSON DRIFTSCOPE_TFJS_VERSION GET "${tfjs_package}" devDependencies @tensorflow/tfjs-core)

function(driftscope_engine_tfjs core)
  set_property(SOURCE "${CMAKE_SOURCE_DIR}/core/engines/tfjs/tfjs.cpp" APPEND PROPERTY
    COMPILE_DEFINITIONS "DRIFTSCOPE_TFJS_VERSION=\"${DRIFTSCOPE_TFJS_VERSION}\"")
endfunction()

# EngineInfo::browser_files of the four: the bundles that set a global.
function(driftscope_site_tfjs)
  set(packages "${CMAKE_SOURCE_DIR}/node_modules/@tensorflow")
  file(GLOB found CONFIGURE_DEPENDS "${packages}/tfjs-core/dist/tf-core.min.js")  # it may appear later
  if(NOT found)
    message(STATUS "node_modules lacks @tensorflow/tfjs-core (run tools/setup): the site comes without TensorFlow.js")
    return()
  endif()
  set(wasm tfjs-backend-wasm/dist/tfjs-backend-wasm)
  foreach(file tfjs-core/dist/tf-core.min.js tfjs-converter/dist/tf-converter.min.js
      tfjs-backend-cpu/dist/tf-backend-cpu.min.js tfjs-backend-wasm/dist/tf-backend-wasm.min.js
      tfjs-backend-webgl/dist/tf-backend-webgl.min.js tfjs-backend-webgpu/dist/tf-backend-webgpu.min.js
      ${wasm}.wasm ${wasm}-simd.wasm ${wasm}-threaded-simd.wasm)
    cmake_path(GET file FILENAME name)
    driftscope_site_file("${packages}/${file}" "tfjs/${name}")
    driftscope_compress("tfjs-${name}" "${DRIFTSCOPE_SITE}/tfjs/${name}" "${DRIFTSCOPE_SITE}/tfjs/${name}" BEST)
  endforeach()
endfunction()
