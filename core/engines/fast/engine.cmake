# The build of the engine fast: XNNPACK, and the files that see its headers.
include("${CMAKE_CURRENT_LIST_DIR}/xnnpack.cmake")  # driftscope_xnnpack and its libraries

# operators/FOO.cpp defines fast::foo::add_to(FastOperatorTable&).
file(GLOB fast_operator_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/operators/*.cpp")
# For an instruction that WebAssembly has not: every visitor would fetch it.
set(fast_native_only "/fast/(operators/integer_matmul|(simd/)?int8_product)[.]cpp$")
if(NOT DRIFTSCOPE_PLATFORM STREQUAL "native")
  list(FILTER fast_operator_files EXCLUDE REGEX "${fast_native_only}")
endif()
driftscope_registry("${DRIFTSCOPE_GENERATED_DIR}/fast_registry.cpp" "${fast_operator_files}"
  core/engines/fast/operator_table.hpp fast::FastOperatorTable fast fast_operators)

list(APPEND engine_sources_apart "/core/engines/fast/")

function(driftscope_engine_fast core)
  set(folder "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/fast/simd/")
  if(NOT DRIFTSCOPE_PLATFORM STREQUAL "native")
    list(FILTER sources EXCLUDE REGEX "${fast_native_only}")
  endif()
  add_library(${core}_fast OBJECT ${sources})
  target_link_libraries(${core}_fast PRIVATE driftscope_xnnpack)
  driftscope_engine_library(${core}_fast OBJECTS)
  driftscope_unity(${core}_fast AS ${core}_objects)
  # Its own kernels come in the same variants as XNNPACK, and in its libraries.
  file(GLOB kernels CONFIGURE_DEPENDS "${folder}/simd/*.cpp")
  if(NOT DRIFTSCOPE_PLATFORM STREQUAL "native")
    list(FILTER kernels EXCLUDE REGEX "${fast_native_only}")
  endif()
  # Loops over the registers of a block must be unrolled; those over kernels that are packed become vectors.
  set_property(SOURCE "${folder}/simd/winograd.cpp" "${folder}/simd/row_convolution.cpp"
    "${folder}/simd/int8_row_convolution.cpp" "${folder}/simd/nbits_product.cpp"
    "${folder}/simd/int8_product.cpp" APPEND PROPERTY COMPILE_OPTIONS -O3)
  set_property(SOURCE "${folder}/winograd.cpp" APPEND PROPERTY COMPILE_OPTIONS
    $<IF:$<STREQUAL:${DRIFTSCOPE_PLATFORM},native>,-O3,-Os>)
  set_property(SOURCE "${folder}/winograd.cpp" PROPERTY SKIP_PRECOMPILE_HEADERS ON)  # other options than theirs
  foreach(variant IN LISTS variants)
    set(library driftscope_fast_kernels_${variant})
    add_library(${library} STATIC ${kernels})
    target_compile_options(${library} PRIVATE ${flags_${variant}})
    driftscope_engine_library(${library})
    target_link_libraries(driftscope_xnnpack_${variant} PUBLIC ${library})
  endforeach()
  if(DRIFTSCOPE_PLATFORM STREQUAL "native")  # programs for browsers choose one
    target_link_libraries(${core} PUBLIC driftscope_xnnpack_native)
  endif()
endfunction()
