# The strict engine's kernels: kernels/FOO.cpp defines strict::foo::add_to(StrictKernelTable&).
file(GLOB strict_kernel_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/kernels/*.cpp")
driftscope_registry("${DRIFTSCOPE_GENERATED_DIR}/strict_registry.cpp" "${strict_kernel_files}"
  core/engines/strict/kernel_table.hpp StrictKernelTable strict strict_kernels)
