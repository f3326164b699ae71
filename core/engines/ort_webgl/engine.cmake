# The engine ort-webgl: onnxruntime-web of the version that the engine ort is pinned to.
function(driftscope_engine_ort_webgl core)
  set_property(SOURCE "${CMAKE_SOURCE_DIR}/core/engines/ort_webgl/engine.cpp" APPEND PROPERTY
    COMPILE_DEFINITIONS "DRIFTSCOPE_ONNXRUNTIME_VERSION=\"${DRIFTSCOPE_ONNXRUNTIME_VERSION}\"")
endfunction()

# EngineInfo::browser_files.
function(driftscope_site_ort_webgl)
  set(ort_webgl_folder "${CMAKE_SOURCE_DIR}/node_modules/onnxruntime-web/dist")
  file(GLOB ort_webgl_file CONFIGURE_DEPENDS "${ort_webgl_folder}/ort.webgl.min.mjs")  # it may appear later
  if(ort_webgl_file)
    driftscope_site_file("${ort_webgl_folder}/ort.webgl.min.mjs" "ort-webgl/ort.webgl.min.mjs")
  else()
    message(STATUS "node_modules lacks onnxruntime-web (run tools/setup): the site comes without ort-webgl")
  endif()
endfunction()
