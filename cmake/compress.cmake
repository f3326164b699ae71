# Compressed copies of large files of the site: brotli at its best takes seconds per megabyte, which a
# server could not spend on a request. A separate target, so that building only `site` does not
# wait; the server compares them with the file, and replaces missing or
# outdated copies by its own fast compression.
find_program(NODE_PROGRAM node REQUIRED)
add_custom_target(compressed ALL)

# driftscope_compress(name file target [BEST]): FILE.br and FILE.gz; `target` makes the file. BEST: as small as
# brotli gets, for what every visitor fetches.
function(driftscope_compress name file target)
  cmake_parse_arguments(ARG "BEST" "" "" ${ARGN})
  set(quality good)
  if(ARG_BEST)
    set(quality best)
  endif()
  add_custom_command(OUTPUT "${file}.br" "${file}.gz"
    COMMAND "${NODE_PROGRAM}" "${CMAKE_SOURCE_DIR}/cmake/compress.mjs" ${quality} "${file}"
    DEPENDS "${target}" "${CMAKE_SOURCE_DIR}/cmake/compress.mjs" VERBATIM COMMENT "Compressing ${name}")
  add_custom_target(compress-${name} DEPENDS "${file}.br" "${file}.gz")
  add_dependencies(compressed compress-${name})
endfunction()
