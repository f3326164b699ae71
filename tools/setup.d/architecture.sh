# shellcheck shell=bash disable=SC2034
# Names that depend on the processor, for scripts; for CMake see cmake/architecture.cmake.
machine=x86_64                   # `uname -m`
triplet=x86_64-linux-gnu         # Debian's folder of libraries
loader=ld-linux-x86-64.so.2      # the C library's program that starts others
node_platform=linux/x64          # npm's folder of native libraries: process.platform, process.arch
