# The notices of what is shipped (packaging/components.txt), as a file of the build.

# driftscope_notices(program|page|node OUT): sets OUT in the caller to the file that it makes.
function(driftscope_notices what out)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(file "${DRIFTSCOPE_GENERATED_DIR}/licences/${what}.txt")
  set(bill "${DRIFTSCOPE_GENERATED_DIR}/licences/${what}.spdx.json")
  file(GLOB texts CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/packaging/licences/*.txt")
  file(MAKE_DIRECTORY "${DRIFTSCOPE_GENERATED_DIR}/licences")
  set(xnnpack "${DRIFTSCOPE_XNNPACK}")
  if(NOT xnnpack)  # the engine fast is left out
    set(xnnpack "$ENV{DRIFTSCOPE_XNNPACK}")
  endif()
  add_custom_command(OUTPUT "${file}" "${bill}"
    COMMAND "${CMAKE_COMMAND}" -E env "DRIFTSCOPE_XNNPACK=${xnnpack}" "DRIFTSCOPE_IMGUI=${IMGUI_SOURCES}"
      "DRIFTSCOPE_ZLIB=${ZLIB_SOURCES}" "DRIFTSCOPE_NODE_LIBRARIES=$ENV{DRIFTSCOPE_NODE_LIBRARIES}"
      "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/packaging/licences.py" ${what} "${file}" "${bill}"
    DEPENDS "${CMAKE_SOURCE_DIR}/packaging/licences.py" "${CMAKE_SOURCE_DIR}/packaging/components.txt"
      "${CMAKE_SOURCE_DIR}/tools/setup.d/pins" "${CMAKE_SOURCE_DIR}/package-lock.json" ${texts}
    VERBATIM COMMENT "")
  set(${out} "${file}" PARENT_SCOPE)
endfunction()
