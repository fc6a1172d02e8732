# What `make install` puts where: the executable, the public headers, and libgnnc.so for programs
# that embed gnnc; documents in share/doc/gnnc, as they link to each other, and samples in
# share/gnnc/samples.
include(GNUInstallDirs)

# All that is installed. With sanitizers, where nobody links the libraries, they are made on demand.
if(GNNC_SANITIZE)
  set(on_demand ON)
  add_custom_target(installable)
else()
  set(on_demand OFF)
  add_custom_target(installable ALL)
endif()
if(TARGET gnnc)
  add_dependencies(installable gnnc)
endif()
install(FILES LICENSE README.md CONTRIBUTING.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md"
        PATTERN man EXCLUDE)
install(DIRECTORY samples DESTINATION ${CMAKE_INSTALL_DATADIR}/gnnc FILES_MATCHING PATTERN "*.gnn"
        PATTERN "*.graph" PATTERN "*.c")
install(FILES docs/man/gnnc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# Pages of the commands, and completion: from the table of options, which the program has.
if(TARGET gnnc AND NOT CMAKE_CROSSCOMPILING)
  file(READ cli/options.h table)
  string(REGEX MATCH "GN_COMMANDS\\(X\\)[^#]*" table "${table}")
  string(REGEX MATCHALL " X\\([a-z]+" command_names "${table}")
  string(REPLACE " X(" "" command_names "${command_names}")
  string(REPLACE ";" "," command_names "${command_names}")
  set(pages "${CMAKE_BINARY_DIR}/share")
  add_custom_command(
    TARGET gnnc POST_BUILD
    COMMAND ${CMAKE_COMMAND} "-DGNNC=$<TARGET_FILE:gnnc>" "-DOUT=${pages}"
            "-DCOMMANDS=${command_names}" -P "${CMAKE_SOURCE_DIR}/cmake/GnncPages.cmake"
    VERBATIM)
  install(DIRECTORY "${pages}/man/man1" DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(DIRECTORY "${pages}/bash-completion" "${pages}/zsh" "${pages}/fish"
          DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()

# libgnnc, for programs that embed gnnc (include/gnnc): shared, and an archive.
file(GLOB public_headers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/include/gnnc/*.h")

# Only what the header declares leaves, under a version: not LLVM, which the embedding program may
# hold in another one.
file(WRITE "${CMAKE_BINARY_DIR}/gnnc.map"
     "GNNC_${PROJECT_VERSION_MAJOR} { global: gnnc_*; local: *; };\n")
add_library(gnnc_shared SHARED $<TARGET_OBJECTS:gnnc_api>)
target_link_libraries(gnnc_shared PRIVATE gnnc_api)
target_link_options(gnnc_shared PRIVATE -Wl,--exclude-libs,ALL
                    "-Wl,--version-script=${CMAKE_BINARY_DIR}/gnnc.map" -Wl,--gc-sections)
# As it was built it finds what a wheel carries beside it; as it is installed, the system's.
set_target_properties(gnnc_shared PROPERTIES BUILD_RPATH "$ORIGIN/libs"
                                             OUTPUT_NAME gnnc VERSION ${PROJECT_VERSION}
                                             SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C
                                             EXCLUDE_FROM_ALL ${on_demand}
                                             LINK_DEPENDS "${CMAKE_BINARY_DIR}/gnnc.map")

# The archive holds one object: the API, what it needs of the rooms, and of outside libraries those
# that are archives here.  In it every name but the header's is local, so that programs may have
# names and libraries of their own, of another LLVM too.  Groups are dissolved: the linker would
# keep one of two, and our names do not reach into another's.
find_program(GNNC_LD NAMES ld.bfd ld)
mark_as_advanced(GNNC_LD)
set(archives "")
foreach(room IN LISTS GNNC_ROOMS ITEMS embedded_stdlib embedded_samples embedded_cuda
        embedded_code_id)
  if(TARGET gnnc_${room} AND NOT room MATCHES "^(api|cli|aot)$")
    list(APPEND archives "$<TARGET_FILE:gnnc_${room}>")
  endif()
endforeach()
set(outside ${GNNC_ZLIB} ${GNNC_JANSSON} ${GNNC_YAML})
if(GNNC_HAVE_LLVM AND GNNC_LLVM_SO)
  list(APPEND outside ${GNNC_LLVM_SO})
elseif(GNNC_HAVE_LLVM)
  list(APPEND outside ${GNNC_LLVM_FILES} ${GNNC_ZSTD})
endif()
# What a program that links the archive needs besides: names, for its machine to find.
set(private_libs "")
foreach(library IN LISTS outside)
  if(library MATCHES "\\.a$")
    list(APPEND archives "${library}")
  elseif(library)
    get_filename_component(name "${library}" NAME)
    string(REGEX REPLACE "^lib(.*)\\.so.*$" "\\1" name "${name}")
    list(APPEND private_libs "${name}")
  endif()
endforeach()
if(GNNC_HAVE_LLVM AND NOT GNNC_LLVM_SO)
  list(APPEND private_libs stdc++)
endif()
list(APPEND private_libs m pthread dl)

# Sections that nothing of the header's reaches are left out.
set(collect "")
if(NOT GNNC_SANITIZE)
  set(declared "")
  foreach(header IN LISTS public_headers)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")
    file(STRINGS "${header}" lines REGEX "^GNNC_API ")
    list(TRANSFORM lines REPLACE "^[^(]*[ *](gnnc_[a-z_0-9]+)\\(.*$" "-u;\\1")
    list(APPEND declared ${lines})
  endforeach()
  set(collect --gc-sections ${declared})
endif()
set(joined "${CMAKE_BINARY_DIR}/gnnc.o")
add_custom_command(
  OUTPUT "${CMAKE_BINARY_DIR}/libgnnc.a"
  COMMAND ${GNNC_LD} -r ${collect} --force-group-allocation -o "${joined}"
          $<TARGET_OBJECTS:gnnc_api> --start-group ${archives} --end-group
  COMMAND ${CMAKE_OBJCOPY} --strip-debug --wildcard "--keep-global-symbol=gnnc_*" "${joined}"
  COMMAND ${CMAKE_COMMAND} -E rm -f "${CMAKE_BINARY_DIR}/libgnnc.a"
  COMMAND ${CMAKE_AR} qcD "${CMAKE_BINARY_DIR}/libgnnc.a" "${joined}"
  COMMAND ${CMAKE_RANLIB} -D "${CMAKE_BINARY_DIR}/libgnnc.a"
  COMMAND ${CMAKE_COMMAND} -E rm -f "${joined}"
  DEPENDS $<TARGET_OBJECTS:gnnc_api> ${archives}
  COMMENT "Joining libgnnc.a"
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(gnnc_static DEPENDS "${CMAKE_BINARY_DIR}/libgnnc.a")

list(TRANSFORM private_libs PREPEND "-l" OUTPUT_VARIABLE private_libs_flags)
list(JOIN private_libs_flags " " private_libs_flags)
file(RELATIVE_PATH to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${CMAKE_SOURCE_DIR}/cmake/gnnc.pc.in" "${CMAKE_BINARY_DIR}/gnnc.pc" @ONLY)
file(RELATIVE_PATH to_prefix "/${CMAKE_INSTALL_LIBDIR}/cmake/gnnc" "/")
configure_file("${CMAKE_SOURCE_DIR}/cmake/gnncConfig.cmake.in"
               "${CMAKE_BINARY_DIR}/gnncConfig.cmake" @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/gnncConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)

add_dependencies(installable gnnc_shared gnnc_static)
install(TARGETS gnnc_shared LIBRARY)
install(FILES "${CMAKE_BINARY_DIR}/libgnnc.a" DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gnnc)
install(FILES "${CMAKE_BINARY_DIR}/gnnc.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES "${CMAKE_BINARY_DIR}/gnncConfig.cmake" "${CMAKE_BINARY_DIR}/gnncConfigVersion.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gnnc)
