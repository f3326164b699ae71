# The C++ code for TensorFlow Lite's file format, made by flatc from our part of its schema
# (core/convert/tflite/schema): <tflite_schema/schema_generated.h>. It is not written for our warnings, so that
# it counts as a system header. Only headers of flatbuffers are used, which the build for browsers links into
# its own folder (web_headers.cmake).
find_program(FLATC_PROGRAM flatc)
find_path(FLATBUFFERS_HEADERS flatbuffers/flatbuffers.h HINTS "$ENV{DRIFTSCOPE_INCLUDE}" /usr/include
  NO_CMAKE_FIND_ROOT_PATH)
if(NOT FLATC_PROGRAM OR NOT FLATBUFFERS_HEADERS)
  message(FATAL_ERROR "flatc or flatbuffers/flatbuffers.h was not found: run tools/setup "
    "(Debian: apt install flatbuffers-compiler libflatbuffers-dev).")
endif()
set(tflite_schema "${CMAKE_SOURCE_DIR}/core/convert/tflite/schema/schema.fbs")
set(tflite_schema_include "${DRIFTSCOPE_GENERATED_DIR}/flatbuffers")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${tflite_schema}")
set(made "${tflite_schema_include}/tflite_schema/schema_generated.h")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_FILE}")
if(NOT EXISTS "${made}" OR "${tflite_schema}" IS_NEWER_THAN "${made}" OR "${FLATC_PROGRAM}" IS_NEWER_THAN "${made}"
    OR "${CMAKE_CURRENT_LIST_FILE}" IS_NEWER_THAN "${made}")
  execute_process(
    COMMAND "${FLATC_PROGRAM}" --cpp --cpp-std c++17 --scoped-enums
      -o "${tflite_schema_include}/tflite_schema" "${tflite_schema}"
    COMMAND_ERROR_IS_FATAL ANY)
  # musl has a macro of this name; after this no header brings it back.
  file(READ "${made}" text)
  file(WRITE "${made}" "#include <climits>\n#undef ARG_MAX\n${text}")
endif()

# driftscope_tflite_schema(target): it may include the code.
function(driftscope_tflite_schema target)
  target_include_directories(${target} SYSTEM PRIVATE "${tflite_schema_include}")
endfunction()
