# The engine webgpu: operators/FOO.cpp defines webgpu::foo::add_to(WebGpuOperatorTable&).
file(GLOB webgpu_operator_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/operators/*.cpp")
driftscope_registry("${DRIFTSCOPE_GENERATED_DIR}/webgpu_registry.cpp" "${webgpu_operator_files}"
  core/engines/webgpu/operator_table.hpp webgpu::WebGpuOperatorTable webgpu webgpu_operators)
