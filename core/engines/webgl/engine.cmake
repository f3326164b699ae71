# The engine webgl: operators/FOO.cpp defines webgl::foo::add_to(WebGlOperatorTable&).
file(GLOB webgl_operator_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/operators/*.cpp")
driftscope_registry("${DRIFTSCOPE_GENERATED_DIR}/webgl_registry.cpp" "${webgl_operator_files}"
  core/engines/webgl/operator_table.hpp webgl::WebGlOperatorTable webgl webgl_operators)
