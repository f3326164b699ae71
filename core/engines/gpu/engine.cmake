# The operators of all GPU engines: operators/FOO.cpp defines gpu::foo::add_to(GpuOperatorTable&).
file(GLOB gpu_operator_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/operators/*.cpp")
driftscope_registry("${DRIFTSCOPE_GENERATED_DIR}/gpu_registry.cpp" "${gpu_operator_files}"
  core/engines/gpu/operator_table.hpp gpu::GpuOperatorTable gpu gpu_operators)
