# The layers of native/ as libraries, for the native program and for the one that Node runs (node/).

# driftscope_native_layer([LINKS library…] [EXCLUDE regex] [ALONE regex]): the folder it is called in as driftscope_FOLDER,
# linked to ${below}. EXCLUDE: files of programs. ALONE: as of driftscope_unity. A file of the same path in
# DRIFTSCOPE_REPLACEMENTS takes the place of one here.
function(driftscope_native_layer)
  cmake_parse_arguments(ARG "" "EXCLUDE;ALONE" "LINKS" ${ARGN})
  get_filename_component(layer "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${ARG_EXCLUDE}")
  endif()
  driftscope_replace_sources(sources)
  add_library(driftscope_${layer} STATIC ${sources})
  target_link_libraries(driftscope_${layer} PUBLIC ${below} ${ARG_LINKS})
  target_compile_options(driftscope_${layer} PRIVATE ${DRIFTSCOPE_COLD_OPTIONS})
  driftscope_unity(driftscope_${layer} AS driftscope_core_cold ALONE "${ARG_ALONE}")
endfunction()

# driftscope_replace_sources(list): puts files of DRIFTSCOPE_REPLACEMENTS in the place of those of native/ in the list.
function(driftscope_replace_sources list)
  set(chosen "")
  foreach(source IN LISTS ${list})
    file(RELATIVE_PATH path "${CMAKE_SOURCE_DIR}/native" "${source}")
    if(DRIFTSCOPE_REPLACEMENTS AND EXISTS "${DRIFTSCOPE_REPLACEMENTS}/${path}")
      set(source "${DRIFTSCOPE_REPLACEMENTS}/${path}")
    endif()
    list(APPEND chosen "${source}")
  endforeach()
  set(${list} "${chosen}" PARENT_SCOPE)
endfunction()
