# What `make install` puts where: the executable, the public headers, and libgnnc.so for programs that embed gnnc.
include(GNUInstallDirs)

add_custom_target(installable) # all that is installed
if(TARGET gnnc)
  add_dependencies(installable gnnc)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES docs/man/gnnc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

file(GLOB public_headers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/include/gnnc/*.h")
get_target_property(driver_type gnnc_driver TYPE)
if(public_headers AND NOT driver_type STREQUAL "INTERFACE_LIBRARY")
  # The driver's own objects, which hold the public functions, and from the other rooms what they reach.  Only what is
  # marked visible leaves: not LLVM, which the embedding program may hold in another version.
  add_library(gnnc_shared SHARED $<TARGET_OBJECTS:gnnc_driver>)
  target_link_libraries(gnnc_shared PRIVATE gnnc_driver)
  target_link_options(gnnc_shared PRIVATE -Wl,--exclude-libs,ALL)
  set_target_properties(gnnc_shared PROPERTIES OUTPUT_NAME gnnc VERSION ${PROJECT_VERSION}
                                               SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C)
  target_include_directories(gnnc_shared INTERFACE "${CMAKE_SOURCE_DIR}/include")
  file(RELATIVE_PATH to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  configure_file("${CMAKE_SOURCE_DIR}/cmake/gnnc.pc.in" "${CMAKE_BINARY_DIR}/gnnc.pc" @ONLY)
  add_dependencies(installable gnnc_shared)
  install(TARGETS gnnc_shared LIBRARY)
  install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gnnc)
  install(FILES "${CMAKE_BINARY_DIR}/gnnc.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
