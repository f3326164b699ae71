# Names that depend on the processor, for CMake; for scripts see tools/setup.d/architecture.sh.
set(DRIFTSCOPE_TRIPLET "x86_64-linux-gnu")  # Debian's folder of libraries
set(DRIFTSCOPE_NODE_PLATFORM "linux/x64")   # npm's folder of native libraries: process.platform, process.arch
set(DRIFTSCOPE_DEBIAN_ARCHITECTURE "amd64")
