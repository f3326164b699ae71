# driftscope_layers(file level…): reads a list of layers (core/layers.txt) and sets layers_<level> to the folders
# with this mark, in their order.
function(driftscope_layers file)
  foreach(level IN LISTS ARGN)
    set(layers_${level} "")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(STRINGS "${file}" rows REGEX "^[a-z]")
  foreach(row IN LISTS rows)
    separate_arguments(row UNIX_COMMAND "${row}")
    list(GET row 0 layer)
    list(GET row 1 level)
    if(NOT level IN_LIST ARGN)
      message(FATAL_ERROR "${file}: ${layer} is marked '${level}', which is not one of: ${ARGN}")
    endif()
    list(APPEND layers_${level} ${layer})
  endforeach()
  foreach(level IN LISTS ARGN)
    set(layers_${level} ${layers_${level}} PARENT_SCOPE)
  endforeach()
endfunction()

# driftscope_add_core(<target> [SINGLE <target>]): the core as a static library, for native or wasm.
# SINGLE: also one without threads, of the same objects but for the thread pool.
function(driftscope_add_core target)
  cmake_parse_arguments(ARG "" "SINGLE" "" ${ARGN})
  driftscope_layers("${CMAKE_SOURCE_DIR}/core/layers.txt" hot cold chosen)
  foreach(level hot cold)
    list(TRANSFORM layers_${level} REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/core/\\1/*.cpp" OUTPUT_VARIABLE patterns)
    file(GLOB_RECURSE ${level}_sources CONFIGURE_DEPENDS ${patterns})
  endforeach()
  list(FILTER cold_sources EXCLUDE REGEX "/core/gui/imgui/")  # the GUI: cmake/imgui.cmake
  set(sources ${hot_sources})
  set(simd ${sources})
  list(FILTER simd INCLUDE REGEX "/simd/")
  foreach(pattern IN LISTS engine_sources_apart)
    list(FILTER sources EXCLUDE REGEX "${pattern}")
  endforeach()
  # The code generated from the protocol's schema is for the protocol alone.
  set(protocol_sources ${cold_sources})
  list(FILTER protocol_sources INCLUDE REGEX "/core/protocol/")
  list(FILTER cold_sources EXCLUDE REGEX "/core/protocol/")
  add_library(${target}_cold OBJECT ${cold_sources})
  add_library(${target}_protocol OBJECT ${protocol_sources})
  driftscope_tflite_schema(${target}_cold)
  target_include_directories(${target}_protocol PRIVATE "${CMAKE_BINARY_DIR}")
  # generated/documents/NAME.hpp
  target_include_directories(${target}_cold PRIVATE "${CMAKE_BINARY_DIR}/include")
  foreach(source IN LISTS hot_sources)
    file(STRINGS "${source}" documents REGEX "#include \"generated/documents/" LIMIT_COUNT 1)
    if(documents)
      set_property(SOURCE "${source}" APPEND PROPERTY INCLUDE_DIRECTORIES "${CMAKE_BINARY_DIR}/include")
    endif()
  endforeach()
  target_compile_options(${target}_cold PRIVATE ${DRIFTSCOPE_COLD_OPTIONS})
  target_compile_options(${target}_protocol PRIVATE ${DRIFTSCOPE_COLD_OPTIONS})
  driftscope_unity(${target}_cold HEADERS <nlohmann/json.hpp>)
  driftscope_unity(${target}_protocol AS ${target}_cold)
  # web/peers/bridge.cpp serves all peers in browsers; native/peers has a folder for each.
  file(GLOB platform CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${DRIFTSCOPE_PLATFORM}/platform/*.cpp"
    "${CMAKE_SOURCE_DIR}/${DRIFTSCOPE_PLATFORM}/os/*.cpp"
    "${CMAKE_SOURCE_DIR}/${DRIFTSCOPE_PLATFORM}/device/*.cpp"
    "${CMAKE_SOURCE_DIR}/${DRIFTSCOPE_PLATFORM}/peers/*.cpp"
    "${CMAKE_SOURCE_DIR}/${DRIFTSCOPE_PLATFORM}/peers/node/*.cpp")
  get_property(generated GLOBAL PROPERTY DRIFTSCOPE_GENERATED)
  list(FILTER generated INCLUDE REGEX "^${DRIFTSCOPE_GENERATED_DIR}/[^/]*[.]cpp$")
  # A damaged JPEG makes stb's integers overflow, which must not be undefined.
  set_source_files_properties("${CMAKE_SOURCE_DIR}/core/dataset/stb_image.cpp"
    PROPERTIES COMPILE_OPTIONS -fwrapv)
  set_property(SOURCE "${CMAKE_SOURCE_DIR}/native/platform/installed_library.cpp" APPEND PROPERTY
    COMPILE_DEFINITIONS "DRIFTSCOPE_CLONE=\"${CMAKE_SOURCE_DIR}\"")
  add_library(${target}_objects OBJECT ${sources} ${platform} ${generated})
  set_property(SOURCE ${simd} APPEND PROPERTY COMPILE_OPTIONS ${DRIFTSCOPE_SIMD_OPTIONS})
  # LLVM 19 crashes now and then on units of core/model, for wasm.
  set(alone "/simd/|/stb_image(_write)?\\.cpp$|/generated/")
  if(EMSCRIPTEN)
    string(APPEND alone "|/core/model/")
  endif()
  driftscope_unity(${target}_objects ALONE "${alone}")
  add_library(${target} STATIC "${CMAKE_SOURCE_DIR}/core/platform/thread_pool.cpp")
  # generated/protocol/messages.hpp, for clients of the service.
  target_include_directories(${target} INTERFACE "${CMAKE_BINARY_DIR}")
  driftscope_call_engines(driftscope_engine ${target})
  get_property(engine_objects GLOBAL PROPERTY DRIFTSCOPE_ENGINE_OBJECTS)
  set(libraries ${target}_objects ${target}_cold ${target}_protocol ${target})
  if(ARG_SINGLE)
    add_library(${ARG_SINGLE} STATIC "${CMAKE_SOURCE_DIR}/core/platform/thread_pool_single.cpp")
    list(APPEND libraries ${ARG_SINGLE})
  endif()
  foreach(library IN LISTS libraries)
    target_link_libraries(${library} PUBLIC driftscope_options)
    if(NOT library STREQUAL ${target}_objects)
      target_link_libraries(${library} PUBLIC driftscope_minizip)  # core/archive
    endif()
    if(TARGET driftscope_headers)
      target_link_libraries(${library} PUBLIC driftscope_headers)
    endif()
    if(library STREQUAL target OR library STREQUAL ARG_SINGLE)
      target_sources(${library} PRIVATE
        $<TARGET_OBJECTS:${target}_objects> $<TARGET_OBJECTS:${target}_cold>
        $<TARGET_OBJECTS:${target}_protocol> ${engine_objects})
    endif()
  endforeach()
endfunction()
