# What `make install` puts where: the executable, the public headers, and libgnnc.so for programs that embed gnnc; documents in
# share/doc/gnnc, as they link to each other, and samples in share/gnnc/samples.
include(GNUInstallDirs)

add_custom_target(installable ALL) # all that is installed
if(TARGET gnnc)
  add_dependencies(installable gnnc)
endif()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN man EXCLUDE)
install(DIRECTORY samples DESTINATION ${CMAKE_INSTALL_DATADIR}/gnnc FILES_MATCHING PATTERN "*.gnn" PATTERN "*.graph" PATTERN "*.c")
install(FILES docs/man/gnnc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# libgnnc, for programs that embed gnnc (include/gnnc): shared, and an archive of all rooms.
file(GLOB public_headers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/include/gnnc/*.h")
set(rooms api driver cache codegen passes frontend ir runtime base embedded_stdlib embedded_samples embedded_cuda embedded_code_id)
set(archives "")
foreach(room IN LISTS rooms)
  if(TARGET gnnc_${room})
    list(APPEND archives "$<TARGET_FILE:gnnc_${room}>")
  endif()
endforeach()

# Only what the header declares leaves, under a version: not LLVM, which the embedding program may hold in another one.
file(WRITE "${CMAKE_BINARY_DIR}/gnnc.map" "GNNC_${PROJECT_VERSION_MAJOR} { global: gnnc_*; local: *; };\n")
add_library(gnnc_shared SHARED $<TARGET_OBJECTS:gnnc_api>)
target_link_libraries(gnnc_shared PRIVATE gnnc_api)
target_link_options(gnnc_shared PRIVATE -Wl,--exclude-libs,ALL "-Wl,--version-script=${CMAKE_BINARY_DIR}/gnnc.map"
                    -Wl,--gc-sections)
set_target_properties(gnnc_shared PROPERTIES OUTPUT_NAME gnnc VERSION ${PROJECT_VERSION}
                                             SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C
                                             LINK_DEPENDS "${CMAKE_BINARY_DIR}/gnnc.map")

set(script "")
foreach(archive IN LISTS archives)
  string(APPEND script "ADDLIB ${archive}\n")
endforeach()
file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/gnnc.mri"
     CONTENT "CREATE ${CMAKE_BINARY_DIR}/libgnnc.a\n${script}SAVE\nEND\n")
add_custom_command(
  OUTPUT "${CMAKE_BINARY_DIR}/libgnnc.a"
  COMMAND ${CMAKE_COMMAND} -E rm -f "${CMAKE_BINARY_DIR}/libgnnc.a"
  COMMAND ${CMAKE_AR} -M < "${CMAKE_BINARY_DIR}/gnnc.mri"
  DEPENDS ${archives} "${CMAKE_BINARY_DIR}/gnnc.mri"
  COMMENT "Archiving libgnnc.a"
  VERBATIM)
add_custom_target(gnnc_static DEPENDS "${CMAKE_BINARY_DIR}/libgnnc.a")

# What a program that links the archive needs besides, found where it was found here.
set(private_libs ${GNNC_ZLIB} ${GNNC_JANSSON} m pthread dl)
if(GNNC_HAVE_LLVM)
  if(GNNC_LLVM_SO)
    list(PREPEND private_libs ${GNNC_LLVM_SO})
  else()
    list(PREPEND private_libs ${GNNC_LLVM_FILES} ${stdcxx})
    if(GNNC_ZSTD)
      list(APPEND private_libs ${GNNC_ZSTD})
    endif()
  endif()
endif()
list(TRANSFORM private_libs REPLACE "^([a-z+]+)$" "-l\\1" OUTPUT_VARIABLE private_libs_flags)
list(JOIN private_libs_flags " " private_libs_flags)
file(RELATIVE_PATH to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${CMAKE_SOURCE_DIR}/cmake/gnnc.pc.in" "${CMAKE_BINARY_DIR}/gnnc.pc" @ONLY)
file(RELATIVE_PATH to_prefix "/${CMAKE_INSTALL_LIBDIR}/cmake/gnnc" "/")
configure_file("${CMAKE_SOURCE_DIR}/cmake/gnncConfig.cmake.in" "${CMAKE_BINARY_DIR}/gnncConfig.cmake" @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/gnncConfigVersion.cmake" COMPATIBILITY SameMinorVersion)

add_dependencies(installable gnnc_shared gnnc_static)
install(TARGETS gnnc_shared LIBRARY)
install(FILES "${CMAKE_BINARY_DIR}/libgnnc.a" DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gnnc)
install(FILES "${CMAKE_BINARY_DIR}/gnnc.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES "${CMAKE_BINARY_DIR}/gnncConfig.cmake" "${CMAKE_BINARY_DIR}/gnncConfigVersion.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gnnc)
