# SPDX-License-Identifier: BSD-2-Clause
# install_library(TARGET DESCRIPTION): installs a shared library with its pkg-config file and its CMake package, both
# named like the target. The files hold no absolute path, so that an installation may be moved.
function(install_library library_name library_description)
  set(template_dir ${PROJECT_SOURCE_DIR}/deploy/cmake)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/${library_name})
  set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH prefix_from_pkgconfig /prefix/${pkgconfig_dir} /prefix)
  string(REGEX REPLACE "/$" "" prefix_from_pkgconfig ${prefix_from_pkgconfig})

  # Before 1.0 a minor version may change the interface, so that the name of the library contains it.
  set(interface_version ${PROJECT_VERSION_MAJOR})
  if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(interface_version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  endif()
  set_target_properties(${library_name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${interface_version})
  add_library(${library_name}::${library_name} ALIAS ${library_name})

  configure_file(${template_dir}/library.pc.in ${library_name}.pc @ONLY)
  configure_package_config_file(${template_dir}/library_config.cmake.in ${library_name}Config.cmake
                                INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(${library_name}ConfigVersion.cmake COMPATIBILITY SameMinorVersion)

  # Programs that compute with the results need the mathematical functions.
  target_link_libraries(${library_name} INTERFACE m)

  install(TARGETS ${library_name} EXPORT ${library_name}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  separate_symbols(${library_name} ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT ${library_name} NAMESPACE ${library_name}:: FILE ${library_name}Targets.cmake
          DESTINATION ${package_dir})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${library_name}Config.cmake
                ${CMAKE_CURRENT_BINARY_DIR}/${library_name}ConfigVersion.cmake
          DESTINATION ${package_dir})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${library_name}.pc DESTINATION ${pkgconfig_dir})
endfunction()
