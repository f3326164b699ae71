# What is installed, and the packages that CPack makes of it. The page comes from the web build, the libraries
# that are loaded when needed from npm's packages: tools/release makes all of it.
include(licences)
set(DRIFTSCOPE_PAGE "${CMAKE_SOURCE_DIR}/build/web/site" CACHE PATH "The built page to install")

set(programs driftscope)
if(TARGET driftscope-gui)
  list(APPEND programs driftscope-gui)
endif()
# Linked with the final search path, to which the build adds the folder of a library that no package has: a path
# that CMake changes while installing ends with an empty entry before, which is the current folder.
set_target_properties(${programs} PROPERTIES BUILD_WITH_INSTALL_RPATH ON
  INSTALL_RPATH "\$ORIGIN/../lib/driftscope;${DRIFTSCOPE_XNNPACK}/cpuinfo/usr/lib/${DRIFTSCOPE_TRIPLET}")
# OPTIONAL: the window is left out where it was not built.
install(TARGETS ${programs} RUNTIME DESTINATION bin OPTIONAL)
foreach(program IN LISTS programs)
  install(CODE "
    set(program \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/${program}\")
    if(EXISTS \"\${program}\")
      file(RPATH_SET FILE \"\${program}\" NEW_RPATH \"\\\$ORIGIN/../lib/driftscope\")
    endif()")
endforeach()

# Libraries that no package has.
install(CODE "
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES \"$<TARGET_FILE:driftscope>\" RESOLVED_DEPENDENCIES_VAR found
    UNRESOLVED_DEPENDENCIES_VAR missing)
  foreach(library IN LISTS found)
    file(REAL_PATH \"\${library}\" real)
    if(NOT real MATCHES \"^/(usr/)?lib\")
      file(INSTALL \"\${library}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/driftscope\" FOLLOW_SYMLINK_CHAIN)
    endif()
  endforeach()")
foreach(library
    "onnxruntime-node/bin/napi-v6/${DRIFTSCOPE_NODE_PLATFORM}/libonnxruntime.so.1"
    "bun-webgpu-linux-x64/libwebgpu_wrapper.so")
  install(CODE "
    get_filename_component(real \"${CMAKE_SOURCE_DIR}/node_modules/${library}\" REALPATH)
    get_filename_component(name \"${library}\" NAME)
    if(EXISTS \"\${real}\")
      file(INSTALL \"\${real}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/driftscope\" RENAME \"\${name}\" TYPE PROGRAM)
    else()
      message(WARNING \"without \${name}: tools/setup installs it\")
    endif()")
endforeach()

install(CODE "
  if(NOT EXISTS \"${DRIFTSCOPE_PAGE}/service_worker.js\")
    message(FATAL_ERROR \"The page is not built in ${DRIFTSCOPE_PAGE}: run 'cmake --preset web && ninja -C build/web \"
      \"site compressed', or name its folder with -DDRIFTSCOPE_PAGE=FOLDER\")
  endif()")
install(DIRECTORY "${DRIFTSCOPE_PAGE}/" DESTINATION share/driftscope/site)
# The models and data once, under the page, which serves them.
install(CODE "
  set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/driftscope\")
  file(CREATE_LINK site/assets \"\${folder}/assets\" SYMBOLIC)")
install(DIRECTORY "${CMAKE_SOURCE_DIR}/web/npm/" DESTINATION share/driftscope/npm)

driftscope_notices(program notices)
add_custom_target(notices ALL DEPENDS "${notices}")
add_dependencies(driftscope notices)  # whoever has built the program can install it
install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" DESTINATION share/doc/driftscope RENAME copyright)
install(FILES "${notices}" DESTINATION share/doc/driftscope RENAME licences.txt)
install(FILES "${CMAKE_SOURCE_DIR}/assets/README.md" DESTINATION share/doc/driftscope RENAME models.md)

# Manual pages and completions, from the declarations of the commands: the program writes them while it is
# installed.
set(written "${CMAKE_BINARY_DIR}/generated/installed")
install(CODE "
  file(REMOVE_RECURSE \"${written}\")
  file(MAKE_DIRECTORY \"${written}\")
  execute_process(COMMAND \"$<TARGET_FILE:driftscope>\" manual --write \"${written}/manual\"
    COMMAND_ERROR_IS_FATAL ANY)
  foreach(shell bash zsh fish)
    execute_process(COMMAND \"$<TARGET_FILE:driftscope>\" completion \${shell} OUTPUT_FILE \"${written}/\${shell}\"
      COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")
install(DIRECTORY "${written}/manual/" DESTINATION share/man/man1)
install(FILES "${written}/bash" DESTINATION share/bash-completion/completions RENAME driftscope)
install(FILES "${written}/zsh" DESTINATION share/zsh/site-functions RENAME _driftscope)
install(FILES "${written}/fish" DESTINATION share/fish/vendor_completions.d RENAME driftscope.fish)

install(FILES "${CMAKE_SOURCE_DIR}/packaging/driftscope.desktop" DESTINATION share/applications)
install(FILES "${CMAKE_SOURCE_DIR}/web/page/icon.svg" DESTINATION share/icons/hicolor/scalable/apps RENAME driftscope.svg)

set(CPACK_PACKAGE_NAME driftscope)
set(CPACK_PACKAGE_VENDOR Driftscope)
set(CPACK_PACKAGE_CONTACT "Driftscope's authors <driftscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compares an ONNX model on the PC and in browsers, layer by layer")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_FILE_NAME "driftscope_${PROJECT_VERSION}_${DRIFTSCOPE_DEBIAN_ARCHITECTURE}")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${DRIFTSCOPE_XNNPACK}/cpuinfo/usr/lib/${DRIFTSCOPE_TRIPLET}")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "chromium, firefox-esr, xvfb, xauth, mesa-vulkan-drivers, libegl1, libgles2, libgl1-mesa-dri")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "webkit2gtk-driver, libwebkit2gtk-4.1-0, nodejs")
include(CPack)
