# What `make install` puts where: the executable, the public headers, and the library that embeds gnnc.
include(GNUInstallDirs)

file(GLOB public_headers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/include/gnnc/*.h")
if(public_headers)
  install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gnnc)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
