# An engine that needs more than the .cpp files in its folder to be built has an engine.cmake there, which
# is included here. It may define, FOO being the folder's name:
#   driftscope_engine_FOO(core)  called while the library <core> is made: adds sources to <core>_objects, or
#                                libraries of its own (driftscope_engine_library)
#   driftscope_site_FOO()        in the build for browsers: adds files that they load (driftscope_site_file)
# Files that such a function compiles itself are excluded by a pattern in engine_sources_apart.

# driftscope_engine_library(library [OBJECTS]): compiled like the rest of the core; OBJECTS: a part of it.
function(driftscope_engine_library library)
  cmake_parse_arguments(ARG "OBJECTS" "" "" ${ARGN})
  target_link_libraries(${library} PUBLIC driftscope_options)
  if(TARGET driftscope_headers)
    target_link_libraries(${library} PUBLIC driftscope_headers)
  endif()
  set_property(GLOBAL APPEND PROPERTY DRIFTSCOPE_ENGINE_LIBRARIES ${library})
  if(ARG_OBJECTS)
    set_property(GLOBAL APPEND PROPERTY DRIFTSCOPE_ENGINE_OBJECTS $<TARGET_OBJECTS:${library}>)
  endif()
endfunction()

# driftscope_call_engines(hook …): hook_FOO(…) of every engine that has one.
function(driftscope_call_engines hook)
  foreach(file IN LISTS engine_builds)
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(GET folder FILENAME name)
    if(COMMAND ${hook}_${name})
      cmake_language(CALL ${hook}_${name} ${ARGN})
    endif()
  endforeach()
endfunction()

set(engine_sources_apart "")
file(GLOB_RECURSE engine_builds CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/core/engines/engine.cmake")
foreach(engine IN LISTS DRIFTSCOPE_WITHOUT_ENGINES)
  list(APPEND engine_sources_apart "/core/engines/${engine}/")
  list(FILTER engine_builds EXCLUDE REGEX "/core/engines/${engine}/")
endforeach()
foreach(engine_build IN LISTS engine_builds)
  include("${engine_build}")
endforeach()
