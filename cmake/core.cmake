# driftscope_add_core(<target> [SINGLE <target>]): the core as a static library, for native or wasm.
# SINGLE: also one without threads, of the same objects but for the thread pool.
function(driftscope_add_core target)
  cmake_parse_arguments(ARG "" "SINGLE" "" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/core/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/core/platform/|/core/gui/imgui/")  # the GUI: cmake/imgui.cmake
  # XNNPACK's headers are for the fast engine alone.
  set(fast_sources ${sources})
  list(FILTER fast_sources INCLUDE REGEX "/core/engines/fast/")
  list(FILTER fast_sources EXCLUDE REGEX "/fast/simd/")
  list(FILTER sources EXCLUDE REGEX "/core/engines/fast/")
  add_library(${target}_fast OBJECT ${fast_sources})
  target_link_libraries(${target}_fast PRIVATE driftscope_xnnpack)
  # Its own kernels come in the variants of XNNPACK, and with them.
  file(GLOB kernels CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/core/engines/fast/simd/*.cpp")
  foreach(variant IN LISTS variants)
    set(library driftscope_fast_kernels_${variant})
    add_library(${library} STATIC ${kernels})
    target_compile_options(${library} PRIVATE ${flags_${variant}})
    target_link_libraries(${library} PUBLIC driftscope_options)
    if(TARGET driftscope_headers)
      target_link_libraries(${library} PUBLIC driftscope_headers)
    endif()
    target_link_libraries(driftscope_xnnpack_${variant} PUBLIC ${library})
  endforeach()
  # Nobody notices the speed of these folders: optimised less, they compile in half the time, and the
  # download is smaller.
  set(cold_sources ${sources})
  list(FILTER cold_sources INCLUDE REGEX "/core/(bench|checks|compare|gui|protocol|report|results)/")
  list(FILTER sources EXCLUDE REGEX "/core/(bench|checks|compare|gui|protocol|report|results)/")
  add_library(${target}_cold OBJECT ${cold_sources})
  if(DRIFTSCOPE_TWIN STREQUAL "web")
    target_compile_options(${target}_cold PRIVATE -Os)
  elseif(DRIFTSCOPE_OPTIMIZE)
    target_compile_options(${target}_cold PRIVATE -O1)
  endif()
  driftscope_unity(${target}_cold HEADERS <nlohmann/json.hpp>)
  file(GLOB platform CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${DRIFTSCOPE_TWIN}/platform/*.cpp")
  file(GLOB generated "${DRIFTSCOPE_GENERATED_DIR}/*.cpp")
  # A damaged JPEG makes stb's integers overflow, which must not be undefined.
  set_source_files_properties("${CMAKE_SOURCE_DIR}/core/dataset/stb_image.cpp"
    PROPERTIES COMPILE_OPTIONS -fwrapv)
  add_library(${target}_objects OBJECT ${sources} ${platform} ${generated})
  driftscope_add_ort(${target}_objects)
  if(NOT DRIFTSCOPE_OPTIMIZE)
    # Not optimised the whole compiles three times as fast; where the time of a run goes it is.
    file(GLOB_RECURSE hot "${CMAKE_SOURCE_DIR}/core/engines/*/simd/*.cpp"
      "${CMAKE_SOURCE_DIR}/core/numerics/exact_product.cpp"
      "${CMAKE_SOURCE_DIR}/core/base/sha256_blocks.cpp")
    set_property(SOURCE ${hot} APPEND PROPERTY COMPILE_OPTIONS -O1)
  endif()
  # Highway compiles a file once per instruction set.
  driftscope_unity(${target}_objects
    ALONE "/strict/simd/|/sha256_blocks\\.cpp$|/exact_product\\.cpp$|/stb_image(_write)?\\.cpp$|/generated/")
  driftscope_unity(${target}_fast AS ${target}_objects)
  add_library(${target} STATIC "${CMAKE_SOURCE_DIR}/core/platform/thread_pool.cpp")
  set(libraries ${target}_objects ${target}_cold ${target}_fast ${target})
  if(ARG_SINGLE)
    add_library(${ARG_SINGLE} STATIC "${CMAKE_SOURCE_DIR}/core/platform/thread_pool_single.cpp")
    list(APPEND libraries ${ARG_SINGLE})
  endif()
  foreach(library IN LISTS libraries)
    target_link_libraries(${library} PUBLIC driftscope_options)
    if(TARGET driftscope_headers)
      target_link_libraries(${library} PUBLIC driftscope_headers)
    endif()
    if(library STREQUAL target OR library STREQUAL ARG_SINGLE)
      target_sources(${library} PRIVATE
        $<TARGET_OBJECTS:${target}_objects> $<TARGET_OBJECTS:${target}_cold>
        $<TARGET_OBJECTS:${target}_fast>)
    endif()
  endforeach()
endfunction()
