# minizip, which reads and writes zip files (core/archive), from the sources of zlib that tools/setup fetches.
# The native build links the system's zlib; for WebAssembly zlib itself is compiled as well.
find_path(ZLIB_SOURCES contrib/minizip/unzip.c
  HINTS "$ENV{DRIFTSCOPE_ZLIB}" NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
if(NOT ZLIB_SOURCES)
  message(FATAL_ERROR "zlib's sources were not found: run tools/setup, and source env.sh in its cache folder "
    "(or name the folder of zlib 1.3 or newer in DRIFTSCOPE_ZLIB)")
endif()

# driftscope_minizip, for libraries of the core to link.
enable_language(C)
set(minizip "${ZLIB_SOURCES}/contrib/minizip")
add_library(driftscope_minizip STATIC "${minizip}/ioapi.c" "${minizip}/unzip.c" "${minizip}/zip.c")
target_include_directories(driftscope_minizip SYSTEM PUBLIC "${minizip}")
target_compile_definitions(driftscope_minizip PRIVATE NOCRYPT NOUNCRYPT)
target_compile_options(driftscope_minizip PRIVATE -w)
if(DRIFTSCOPE_PLATFORM STREQUAL "native")
  find_package(ZLIB 1.2 REQUIRED)
  target_link_libraries(driftscope_minizip PUBLIC ZLIB::ZLIB)
else()
  set(zlib adler32 crc32 deflate inffast inflate inftrees trees zutil)
  list(TRANSFORM zlib PREPEND "${ZLIB_SOURCES}/")
  list(TRANSFORM zlib APPEND ".c")
  target_sources(driftscope_minizip PRIVATE ${zlib})
  target_include_directories(driftscope_minizip SYSTEM PUBLIC "${ZLIB_SOURCES}")
  # Atomics, so that it can be linked where memory is shared.
  target_compile_options(driftscope_minizip PRIVATE -msimd128 -pthread -Os)
endif()
