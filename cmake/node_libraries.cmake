# The libraries of native/ for WebAssembly, compiled from the sources that tools/setup fetches, under the names that
# pkg-config gives to the system's.
set(node_sources "$ENV{DRIFTSCOPE_NODE_LIBRARIES}")
if(NOT EXISTS "${node_sources}/cpp-httplib/httplib.h")
  message(FATAL_ERROR "The sources of the libraries for Node were not found: run tools/setup, and source env.sh in its "
    "cache folder (or name a folder with brotli, cpp-httplib, libyaml, pcre2, sqlite3 and utf8proc in DRIFTSCOPE_NODE_LIBRARIES)")
endif()

# driftscope_node_library(name alias [SOURCES file…] [INCLUDES folder…] [DEFINITIONS …] [LINKS library…])
function(driftscope_node_library name alias)
  cmake_parse_arguments(ARG "" "" "SOURCES;INCLUDES;DEFINITIONS;LINKS" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_compile_options(${name} PRIVATE -w -Oz -msimd128 -pthread)
    target_compile_definitions(${name} PRIVATE ${ARG_DEFINITIONS})
    target_include_directories(${name} SYSTEM PUBLIC ${ARG_INCLUDES})
    target_link_libraries(${name} PUBLIC ${ARG_LINKS})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} SYSTEM INTERFACE ${ARG_INCLUDES})
    target_link_libraries(${name} INTERFACE ${ARG_LINKS})
  endif()
  add_library(${alias} ALIAS ${name})
endfunction()

file(GLOB brotli_sources "${node_sources}/brotli/c/common/*.c" "${node_sources}/brotli/c/dec/*.c" "${node_sources}/brotli/c/enc/*.c")
driftscope_node_library(driftscope_node_brotli PkgConfig::COMPRESSION
  SOURCES ${brotli_sources} INCLUDES "${node_sources}/brotli/c/include" LINKS driftscope_minizip)

# httplib alone: its connections are those of node/system/sockets.
driftscope_node_library(driftscope_node_httplib PkgConfig::HTTPLIB INCLUDES "${node_sources}/cpp-httplib")
# Descriptors of connections are larger than what select(2) takes.
target_compile_definitions(driftscope_node_httplib INTERFACE CPPHTTPLIB_USE_POLL)

# Only a hash is needed, which Node has (node/packages/integrity.cpp).
driftscope_node_library(driftscope_node_crypto PkgConfig::CRYPTO)

# What pcre2's own build makes by renaming files.
set(pcre2 "${CMAKE_BINARY_DIR}/node/pcre2")
configure_file("${node_sources}/pcre2/src/pcre2.h.generic" "${pcre2}/pcre2.h" COPYONLY)
configure_file("${node_sources}/pcre2/src/config.h.generic" "${pcre2}/config.h" COPYONLY)
configure_file("${node_sources}/pcre2/src/pcre2_chartables.c.dist" "${pcre2}/pcre2_chartables.c" COPYONLY)
file(GLOB pcre2_sources "${node_sources}/pcre2/src/pcre2_*.c")
list(FILTER pcre2_sources EXCLUDE REGEX "dftables|fuzzsupport|jit_match|jit_misc|jit_test|printint|ucptables|_test\\.c$")
driftscope_node_library(driftscope_node_pcre2 PkgConfig::PCRE2
  SOURCES ${pcre2_sources} "${pcre2}/pcre2_chartables.c"
  INCLUDES "${pcre2}" "${node_sources}/pcre2/src"
  DEFINITIONS HAVE_CONFIG_H PCRE2_CODE_UNIT_WIDTH=8 SUPPORT_PCRE2_8 SUPPORT_UNICODE PCRE2_STATIC)

driftscope_node_library(driftscope_node_utf8proc PkgConfig::UTF8PROC
  SOURCES "${node_sources}/utf8proc/utf8proc.c" INCLUDES "${node_sources}/utf8proc" DEFINITIONS UTF8PROC_STATIC)
target_compile_definitions(driftscope_node_utf8proc PUBLIC UTF8PROC_STATIC)

set(yaml "${CMAKE_BINARY_DIR}/node/yaml")
file(GENERATE OUTPUT "${yaml}/config.h" CONTENT "#define YAML_VERSION_MAJOR 0\n#define YAML_VERSION_MINOR 2\n\
#define YAML_VERSION_PATCH 5\n#define YAML_VERSION_STRING \"0.2.5\"\n")
driftscope_node_library(driftscope_node_yaml PkgConfig::YAML
  SOURCES "${node_sources}/libyaml/src/api.c" "${node_sources}/libyaml/src/parser.c" "${node_sources}/libyaml/src/reader.c"
    "${node_sources}/libyaml/src/scanner.c"
  INCLUDES "${node_sources}/libyaml/include" "${yaml}" DEFINITIONS HAVE_CONFIG_H YAML_DECLARE_STATIC)

# Its locks are those of node/system/file_locks.cpp.
driftscope_node_library(driftscope_node_sqlite3 SQLite::SQLite3
  SOURCES "${node_sources}/sqlite3/sqlite3.c" INCLUDES "${node_sources}/sqlite3"
  DEFINITIONS SQLITE_OMIT_LOAD_EXTENSION SQLITE_OMIT_WAL SQLITE_DEFAULT_MEMSTATUS=0 SQLITE_THREADSAFE=1)
