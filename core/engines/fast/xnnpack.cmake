# XNNPACK and pthreadpool as static libraries, from the sources that tools/setup put into the cache.
# Their own CMake files reject Emscripten and download dependencies, so sources and flags are listed here.
#   driftscope_xnnpack           what a client needs to compile
#   driftscope_xnnpack_native    the native library; clients of driftscope_core have it
#   driftscope_xnnpack_simd      web: the library in SIMD128; each program says which one it takes
#   driftscope_xnnpack_relaxed   web: the same with the kernels of relaxed SIMD
# Natively the C compiler is Clang 19 if installed, whatever compiles the project: GCC 12 lacks some
# of the instruction sets, and so the native presets share objects through ccache.
set(DRIFTSCOPE_XNNPACK "" CACHE PATH
  "Folder with the sources of XNNPACK, pthreadpool, FXdiv, FP16 and cpuinfo (tools/setup makes it)")
if(NOT DRIFTSCOPE_XNNPACK)
  set_property(CACHE DRIFTSCOPE_XNNPACK PROPERTY VALUE "$ENV{DRIFTSCOPE_XNNPACK}")
endif()
if(NOT EXISTS "${DRIFTSCOPE_XNNPACK}/xnnpack/include/xnnpack.h")
  message(FATAL_ERROR "The sources of XNNPACK were not found in '${DRIFTSCOPE_XNNPACK}': run "
    "tools/setup, then source env.sh of the cache folder or give -DDRIFTSCOPE_XNNPACK=FOLDER.")
endif()
if(NOT CMAKE_C_COMPILER)
  find_program(CMAKE_C_COMPILER NAMES clang-19 cc)
endif()
# The last enabled language determines the name of CMake's precompiled headers: only C++ uses them.
foreach(name EXTENSION PROLOGUE EPILOGUE)
  set(cxx_pch_${name} "${CMAKE_PCH_${name}}")
endforeach()
set(cxx_pch_linked "${CMAKE_LINK_PCH}")
enable_language(C)
foreach(name EXTENSION PROLOGUE EPILOGUE)
  set(CMAKE_PCH_${name} "${cxx_pch_${name}}")
endforeach()
set(CMAKE_LINK_PCH "${cxx_pch_linked}")
if(CCACHE_PROGRAM AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

set(xnnpack "${DRIFTSCOPE_XNNPACK}/xnnpack")
set(pthreadpool "${DRIFTSCOPE_XNNPACK}/pthreadpool")
set(xnnpack_includes "${xnnpack}/include" "${pthreadpool}/include")
set(xnnpack_private_includes ${xnnpack_includes} "${CMAKE_SOURCE_DIR}" "${xnnpack}/src" "${pthreadpool}/src"
  "${DRIFTSCOPE_XNNPACK}/fxdiv/include" "${DRIFTSCOPE_XNNPACK}/fp16/include")
set(xnnpack_definitions XNN_LOG_LEVEL=0 XNN_ENABLE_MEMOPT=1 XNN_ENABLE_GEMM_M_SPECIALIZATION=1
  PTHREADPOOL_USE_FUTEX=0 PTHREADPOOL_USE_CONDVAR=0 PTHREADPOOL_USE_FASTPATH=1)
# All other switches; those not listed here are 0, too.
foreach(switch ASSEMBLY SPARSE DWCONV_MULTIPASS KLEIDIAI HVX VSX RISCV_VECTOR AVX512FP16
    ARM_FP16_SCALAR ARM_FP16_VECTOR ARM_BF16 ARM_DOTPROD ARM_I8MM ARM_SME ARM_SME2)
  list(APPEND xnnpack_definitions XNN_ENABLE_${switch}=0)
endforeach()

# Replacements for some of XNNPACK's choices of kernels, and our own micro kernels.
set(xnnpack_tuning "${CMAKE_SOURCE_DIR}/core/engines/fast/tuning/${DRIFTSCOPE_PLATFORM}")
set(xnnpack_start "${xnnpack_tuning}/xnnpack_start.c")
set_source_files_properties("${xnnpack}/src/init.c" PROPERTIES
  COMPILE_DEFINITIONS xnn_initialize=xnn_initialize_untuned)

if(DRIFTSCOPE_PLATFORM STREQUAL "web")
  # Compiled for threads and also used without them: see web/CMakeLists.txt.
  set(xnnpack_flags -msimd128 -pthread)
  list(APPEND xnnpack_definitions XNN_ENABLE_CPUINFO=0)
  set(variants simd relaxed)
  set(own_kernels "${xnnpack_tuning}/f32_row_wasm.c")
  set_source_files_properties(${own_kernels} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # Two of the wasm kernels include ARM's intrinsics without using them.
  file(WRITE "${CMAKE_BINARY_DIR}/xnnpack/unused/arm_neon.h" "")
  list(APPEND xnnpack_private_includes "${CMAKE_BINARY_DIR}/xnnpack/unused")
  set(flags_relaxed -mrelaxed-simd)
  set(flags_wasmrelaxedsimd -mrelaxed-simd)
else()
  set(variants native)
  set(xnnpack_flags -pthread)
  list(APPEND xnnpack_definitions XNN_ENABLE_CPUINFO=1)
  list(APPEND xnnpack_private_includes "${DRIFTSCOPE_XNNPACK}/cpuinfo/usr/include")
  foreach(switch AVXVNNI AVXVNNIINT8 AVX256SKX AVX256VNNI AVX256VNNIGFNI
      AVX512F AVX512SKX AVX512VBMI AVX512VNNI AVX512VNNIGFNI AVX512AMX)
    list(APPEND xnnpack_definitions XNN_ENABLE_${switch}=1)
  endforeach()
  set(skx -mf16c -mfma -mavx512f -mavx512cd -mavx512bw -mavx512dq -mavx512vl)
  set(flags_sse -msse -mno-sse2)
  set(flags_sse2 -msse2 -mno-sse3)
  set(flags_ssse3 -mssse3 -mno-sse4.1)
  set(flags_sse41 -msse4.1 -mno-sse4.2)
  set(flags_avx -mavx -mno-avx2 -mno-fma -mno-f16c)
  set(flags_f16c -mf16c -mno-avx2 -mno-fma)
  set(flags_fma3 -mf16c -mfma -mno-avx2)
  set(flags_avx2 -mf16c -mfma -mavx2)
  set(flags_avxvnni ${flags_avx2} -mavxvnni)
  set(flags_avxvnniint8 ${flags_avx2} -mavxvnniint8)
  set(flags_avx512f -mavx512f)
  set(flags_avx512skx ${skx})
  set(flags_avx512vbmi ${skx} -mavx512vbmi)
  set(flags_avx512vnni ${skx} -mavx512vnni)
  set(flags_avx512vnnigfni ${flags_avx512vnni} -mgfni)
  set(flags_avx512amx ${flags_avx512vnnigfni} -mamx-tile -mamx-int8)
  set(flags_avx256skx ${skx})
  set(flags_avx256vnni ${flags_avx512vnni})
  set(flags_avx256vnnigfni ${flags_avx512vnnigfni})
endif()

# xnnpack_choose(variant flags…): which microkernels this variant needs (xnnpack_sources.py). Adds their
# files to kernels_<isa>, the instruction sets to isas, and sets isas_<variant> and header_<variant>.
function(xnnpack_choose variant)
  list(TRANSFORM xnnpack_private_includes PREPEND -I OUTPUT_VARIABLE includes)
  list(TRANSFORM xnnpack_definitions PREPEND -D OUTPUT_VARIABLE definitions)
  set(compiler ${CMAKE_C_COMPILER} -std=gnu11 ${xnnpack_flags} ${includes} ${definitions} ${ARGN})
  set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/xnnpack_sources.py")
  set(key "${compiler}")
  foreach(file IN ITEMS "${script}" ${xnnpack_start})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(SHA256 "${file}" hash)
    string(APPEND key " ${hash}")
  endforeach()
  string(SHA256 key "${key}")
  string(SUBSTRING "${key}" 0 12 key)
  set(output "${CMAKE_BINARY_DIR}/xnnpack/${variant}-${key}")
  if(NOT EXISTS "${output}.cmake")
    file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/xnnpack")
    execute_process(
      COMMAND python3 "${script}" "${xnnpack}" "${output}" "${xnnpack_start}" ${compiler}
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
  include("${output}.cmake")
  foreach(isa IN LISTS XNNPACK_ISAS)
    set(kernels ${kernels_${isa}} ${XNNPACK_${isa}})
    list(REMOVE_DUPLICATES kernels)
    set(kernels_${isa} ${kernels} PARENT_SCOPE)
    list(APPEND isas ${isa})
  endforeach()
  list(REMOVE_DUPLICATES isas)
  set(isas ${isas} PARENT_SCOPE)
  set(isas_${variant} ${XNNPACK_ISAS} PARENT_SCOPE)
  set(header_${variant} "${output}.h" PARENT_SCOPE)
endfunction()

# xnnpack_objects(target batch flags… SOURCES …): objects, `batch` sources compiled as one.
function(xnnpack_objects target batch)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  add_library(${target} OBJECT ${ARG_SOURCES})
  target_include_directories(${target} PRIVATE ${xnnpack_private_includes})
  target_compile_definitions(${target} PRIVATE ${xnnpack_definitions})
  target_compile_options(${target} PRIVATE -w -O2 -DNDEBUG -ffunction-sections -fdata-sections
    ${xnnpack_flags} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${target} PROPERTIES C_STANDARD 11 C_EXTENSIONS ON
    UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()

# xnnpack_library(variant flags…): the configurations of one variant, which choose its microkernels,
# and everything shared between variants.
function(xnnpack_library variant)
  set(library driftscope_xnnpack_${variant})
  xnnpack_objects(${library}_configs 12 ${ARGN} "SHELL:-include ${header_${variant}}"
    SOURCES ${configs} ${xnnpack_start} ${own_kernels})
  add_library(${library} STATIC $<TARGET_OBJECTS:driftscope_xnnpack_base>
    $<TARGET_OBJECTS:${library}_configs>)
  foreach(isa IN LISTS isas_${variant})
    target_sources(${library} PRIVATE ${objects_${isa}})
  endforeach()
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

foreach(variant IN LISTS variants)
  xnnpack_choose(${variant} ${flags_${variant}})
endforeach()
if(DRIFTSCOPE_PLATFORM STREQUAL "native")
  file(GLOB avx512_kernels CONFIGURE_DEPENDS "${xnnpack_tuning}/f32_*_avx512.c")
  file(GLOB avx_kernels CONFIGURE_DEPENDS "${xnnpack_tuning}/f32_*_avx.c")
  list(APPEND kernels_avx512f ${avx512_kernels})
  list(APPEND kernels_avx ${avx_kernels})
  set_source_files_properties(${avx512_kernels} ${avx_kernels} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()
# Clang's vectorizer takes 20 s for this one (1 s without), which packs weights of eight bits when a model is
# loaded.
set_source_files_properties("${xnnpack}/src/qs8-packw/gen/qs8-packw-x64c4-gemm-goi-scalar.c" PROPERTIES
  COMPILE_OPTIONS -O1 SKIP_UNITY_BUILD_INCLUSION ON)
# Sources of float32 kernels whose min and max must keep NaN: bounded ones, whose first operand is always
# a bound, and selecting ones. Natively AVX has the bound first already, and SSE keeps no NaN.
set(keeping "SHELL:-include ${xnnpack_tuning}/xnnpack_nan.h")
set(flags_of_bounded ${keeping} -DDRIFTSCOPE_BOUND_FIRST)
set(flags_of_selecting ${keeping})
if(DRIFTSCOPE_PLATFORM STREQUAL "web")
  set(bounded "/f32-(gemm|igemm|dwconv|vclamp|vmulcaddc|avgpool|pavgpool)/")
  set(selecting "/f32-(maxpool|velu|vbinary/gen/f32-v(max|min))")
else()
  set(bounded "^$")
  set(selecting "/f32-(maxpool/|vbinary/gen/f32-v(max|min)|.*-sse(-|\\.))")
endif()
foreach(isa IN LISTS isas)
  foreach(kind bounded selecting)
    set(kernels ${kernels_${isa}})
    list(FILTER kernels INCLUDE REGEX "${${kind}}")
    if(kernels)
      list(REMOVE_ITEM kernels_${isa} ${kernels})
      xnnpack_objects(driftscope_xnnpack_${isa}_${kind} 16 ${flags_${isa}} ${flags_of_${kind}}
        SOURCES ${kernels})
      list(APPEND objects_${isa} $<TARGET_OBJECTS:driftscope_xnnpack_${isa}_${kind}>)
    endif()
  endforeach()
  if(kernels_${isa})
    xnnpack_objects(driftscope_xnnpack_${isa} 16 ${flags_${isa}} SOURCES ${kernels_${isa}})
    list(APPEND objects_${isa} $<TARGET_OBJECTS:driftscope_xnnpack_${isa}>)
  endif()
endforeach()

# Sources that do not depend on the variant: operators, packing, pthreadpool. XNNPACK's own graphs are not
# used: they cannot contain nodes that it lacks.
list(GET variants 0 variant)
file(GLOB base "${xnnpack}/src/*.c" "${xnnpack}/src/operators/*.c" "${xnnpack}/src/enums/*.c"
  "${xnnpack}/src/tables/*.c" "${xnnpack}/src/reference/*.cc" "${pthreadpool}/src/portable-api.c"
  "${pthreadpool}/src/fastpath.c" "${CMAKE_SOURCE_DIR}/core/engines/fast/pthreadpool_backend.c")
list(FILTER base EXCLUDE REGEX "/src/(subgraph|runtime|tensor|memory-planner)\\.c$")
# These define names or macros that other files use as well.
set(alone ${base})
list(FILTER alone INCLUDE REGEX
  "pthreadpool|\\.cc$|/(memory|(convolution|max-pooling)-nhwc|softmax-nc|reduce-nd)\\.c$")
set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
xnnpack_objects(driftscope_xnnpack_base 12 "SHELL:-include ${header_${variant}}" SOURCES ${base})
file(GLOB configs "${xnnpack}/src/configs/*.c")

add_library(driftscope_xnnpack INTERFACE)
target_include_directories(driftscope_xnnpack SYSTEM INTERFACE ${xnnpack_includes})
foreach(variant IN LISTS variants)
  xnnpack_library(${variant} ${flags_${variant}})
endforeach()
if(DRIFTSCOPE_PLATFORM STREQUAL "native")
  target_link_libraries(driftscope_xnnpack_native PUBLIC
    "${DRIFTSCOPE_XNNPACK}/cpuinfo/usr/lib/${DRIFTSCOPE_TRIPLET}/libcpuinfo.so.0" m)
endif()
