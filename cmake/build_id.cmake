# The output of `git describe`, refreshed at every build: a bench stores its figures by it. As a script
# (cmake -DOUT=… -P): writes the header when it has changed.
if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND git describe --always --dirty --tags
    WORKING_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}" OUTPUT_VARIABLE id ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(failed OR NOT id MATCHES "^[-._a-zA-Z0-9]+$")
    set(id "unversioned")
  endif()
  file(CONFIGURE OUTPUT "${OUT}" CONTENT "#define DRIFTSCOPE_BUILD \"${id}\"\n")  # leaves an equal file as is
  return()
endif()

# driftscope_build_id(target): generated/build_id.hpp for its sources.
function(driftscope_build_id target)
  set(header "${CMAKE_BINARY_DIR}/include/generated/build_id.hpp")
  add_custom_target(driftscope_build_id BYPRODUCTS "${header}" VERBATIM COMMENT ""
    COMMAND "${CMAKE_COMMAND}" "-DOUT=${header}" -P "${CMAKE_SOURCE_DIR}/cmake/build_id.cmake")
  add_dependencies(${target} driftscope_build_id)
  target_include_directories(${target} PRIVATE "${CMAKE_BINARY_DIR}/include")
endfunction()
