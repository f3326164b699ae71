# Headers and the templates in them are most of what compiling a small file costs. The files of a
# folder, or for a large folder those whose names begin alike, are therefore compiled together, which
# halves a full build. The groups follow from the names, so that a new file moves no other.
# -DDRIFTSCOPE_UNITY=OFF -DDRIFTSCOPE_PRECOMPILE=OFF compiles every file by itself (tools/test --long does: each
# must be able to).
# The most frequently included headers are parsed once per target (precompiled.hpp).
option(DRIFTSCOPE_UNITY "Compile the files of a folder together" ON)
set(DRIFTSCOPE_UNITY_TARGETS "." CACHE STRING "Of which targets, as a regular expression")
# Without unity as well: in daily work one file is compiled again, and its headers need not be.
option(DRIFTSCOPE_PRECOMPILE "Precompile the headers that most files include" ON)

# driftscope_unity(target [TOGETHER] [ALONE regex] [HEADERS header…] [AS target]): TOGETHER: all files in one.
# ALONE: files that compile themselves several times or set macros for what they include. HEADERS: to be
# precompiled in addition to precompiled.hpp; every file pays for what their inline functions instantiate. AS: with
# the precompiled headers of a target that has the same options.
function(driftscope_unity target)
  cmake_parse_arguments(ARG "TOGETHER" "ALONE;AS" "HEADERS" ${ARGN})
  if(NOT DRIFTSCOPE_UNITY AND NOT DRIFTSCOPE_PRECOMPILE)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  if(ARG_ALONE)
    set(alone ${sources})
    list(FILTER alone INCLUDE REGEX "${ARG_ALONE}")
    set_property(SOURCE ${alone} TARGET_DIRECTORY ${target} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    list(FILTER sources EXCLUDE REGEX "${ARG_ALONE}")
  endif()
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    string(MAKE_C_IDENTIFIER "count_${folder}" count)
    if(NOT DEFINED ${count})
      set(${count} 0)
    endif()
    math(EXPR ${count} "${${count}} + 1")
  endforeach()
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    string(MAKE_C_IDENTIFIER "count_${folder}" count)
    set(count ${${count}})
    get_filename_component(stem "${source}" NAME_WE)
    # Headers common to two units are compiled twice: as few units as keep all processors busy.
    set(letters "")
    set(ranges "")
    if(count GREATER 40)
      set(ranges a-c d-f g-k l-n o-r s-z)
    elseif(count GREATER 20)
      set(ranges a-g h-z)
    endif()
    foreach(range IN LISTS ranges)
      if(stem MATCHES "^[${range}]")
        set(letters "${range}")
      endif()
    endforeach()
    file(RELATIVE_PATH group "${CMAKE_SOURCE_DIR}" "${folder}")
    if(ARG_TOGETHER)
      set(letters "all")
    endif()
    string(MAKE_C_IDENTIFIER "${group}_${letters}" group)
    set_property(SOURCE "${source}" TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP "${group}")
    list(APPEND groups ${group})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  list(LENGTH groups count)
  if(NOT DRIFTSCOPE_PRECOMPILE)
    # Every file is compiled with the headers that it includes.
  elseif(ARG_AS)
    target_precompile_headers(${target} REUSE_FROM ${ARG_AS})
  elseif(count GREATER 2)  # precompiling takes as long as two groups save
    target_precompile_headers(${target} PRIVATE "${CMAKE_SOURCE_DIR}/cmake/precompiled.hpp" ${ARG_HEADERS})
  endif()
  if(DRIFTSCOPE_UNITY AND target MATCHES "${DRIFTSCOPE_UNITY_TARGETS}")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  endif()
endfunction()
