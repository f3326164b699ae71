# The engine ort-webgpu: onnxruntime-web of the version that the engine ort is pinned to.
function(driftscope_engine_ort_webgpu core)
  set_property(SOURCE "${CMAKE_SOURCE_DIR}/core/engines/ort_webgpu/engine.cpp" APPEND PROPERTY
    COMPILE_DEFINITIONS "DRIFTSCOPE_ONNXRUNTIME_VERSION=\"${DRIFTSCOPE_ONNXRUNTIME_VERSION}\"")
endfunction()

# EngineInfo::browser_files.
function(driftscope_site_ort_webgpu)
  set(ort_webgpu_folder "${CMAKE_SOURCE_DIR}/node_modules/onnxruntime-web/dist")
  file(GLOB ort_webgpu_file CONFIGURE_DEPENDS "${ort_webgpu_folder}/ort.webgpu.bundle.min.mjs")  # it may appear later
  if(ort_webgpu_file)
    foreach(file ort.webgpu.bundle.min.mjs ort-wasm-simd-threaded.asyncify.wasm)
      driftscope_site_file("${ort_webgpu_folder}/${file}" "ort-webgpu/${file}")
    endforeach()
    driftscope_compress(ort-webgpu "${DRIFTSCOPE_SITE}/ort-webgpu/ort-wasm-simd-threaded.asyncify.wasm"
      "${DRIFTSCOPE_SITE}/ort-webgpu/ort-wasm-simd-threaded.asyncify.wasm")
  else()
    message(STATUS "node_modules lacks onnxruntime-web (run tools/setup): the site comes without ort-webgpu")
  endif()
endfunction()
