# The engine webnn: a browser's own API, so there are no third-party files. Its adapter's table of operators
# is generated from the folder, as a browser cannot list one.
function(driftscope_site_webnn)
  file(GLOB families CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}/web/peers/webnn/operators"
    "${CMAKE_SOURCE_DIR}/web/peers/webnn/operators/*.mjs")
  set(index "// Generated from the folder web/peers/webnn/operators.\n")
  set(names "")
  foreach(family IN LISTS families)
    cmake_path(GET family STEM name)
    string(APPEND index "import { operators as ${name} } from \"./operators/${family}\";\n")
    list(APPEND names ${name})
  endforeach()
  list(JOIN names ", " names)
  string(APPEND index "export const operators = Object.assign({}, ${names});\n")
  file(CONFIGURE OUTPUT "${DRIFTSCOPE_GENERATED_DIR}/webnn_operators.mjs" CONTENT "${index}" @ONLY)
  driftscope_site_file("${DRIFTSCOPE_GENERATED_DIR}/webnn_operators.mjs" web/peers/webnn/operators.mjs)
endfunction()
