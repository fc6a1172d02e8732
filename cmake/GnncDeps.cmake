# Outside libraries, each behind one target: gnnc_llvm, gnnc_zip (zlib), gnnc_json (jansson),
# gnnc_yaml (libyaml).
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig)

# gnnc_find(<variable> <name> [OPTIONAL]): a library's path, static where that is preferred.
function(gnnc_find variable name)
  cmake_parse_arguments(arg "OPTIONAL" "" "" ${ARGN})
  if(GNNC_STATIC_DEPS)
    find_library(${variable} NAMES lib${name}.a ${name})
  else()
    find_library(${variable} NAMES ${name})
  endif()
  mark_as_advanced(${variable})
  if(NOT ${variable} AND NOT arg_OPTIONAL)
    message(FATAL_ERROR "gnnc needs lib${name}; tools/setup.sh installs what a build needs")
  endif()
endfunction()

# zlib: compressed graphs, .npz and PyTorch's archives.
gnnc_find(GNNC_ZLIB z)
add_library(gnnc_zip INTERFACE)
target_link_libraries(gnnc_zip INTERFACE ${GNNC_ZLIB})

# gnnc_link(<target> <variable> <name>): what gnnc_find found.  Debian's archives are not fit for a
# shared object.
function(gnnc_link target variable name)
  add_library(${target} INTERFACE)
  if(${variable} MATCHES "\\.a$")
    find_library(${variable}_SHARED NAMES ${name})
    mark_as_advanced(${variable}_SHARED)
    set(in_shared "$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>")
    target_link_libraries(${target}
                          INTERFACE "$<IF:${in_shared},${${variable}_SHARED},${${variable}}>")
  else()
    target_link_libraries(${target} INTERFACE ${${variable}})
  endif()
endfunction()

# jansson: safetensors' headers, lock files, GraphSAINT's classes.
gnnc_find(GNNC_JANSSON jansson)
gnnc_link(gnnc_json GNNC_JANSSON jansson)

# libyaml: GraphBolt's metadata.
gnnc_find(GNNC_YAML yaml)
gnnc_link(gnnc_yaml GNNC_YAML yaml)

# libxlsxwriter: its headers are all that a build needs, bench loads it where it writes a workbook.
find_path(GNNC_XLSX_INCLUDE xlsxwriter.h)
mark_as_advanced(GNNC_XLSX_INCLUDE)
set(GNNC_HAVE_XLSX 0)
if(GNNC_XLSX_INCLUDE)
  set(GNNC_HAVE_XLSX 1)
else()
  message(STATUS "gnnc: no libxlsxwriter: bench writes no workbook")
endif()
set_source_files_properties("${CMAKE_SOURCE_DIR}/cli/bench/workbook.c"
                            PROPERTIES COMPILE_DEFINITIONS GNNC_HAVE_XLSX=${GNNC_HAVE_XLSX})

# LLVM 19 through its C API.  llvm-config also names z3 and libxml2, which only parts use that the C
# API's users of code generation do not reach; compression (zlib, zstd) is reached by the object
# file readers.
add_library(gnnc_llvm INTERFACE)
set(GNNC_HAVE_LLVM 0)
if(GNNC_LLVM)
  find_program(GNNC_LLVM_CONFIG NAMES llvm-config-19 llvm-config PATHS /usr/lib/llvm-19/bin)
  if(GNNC_LLVM_CONFIG)
    if(NOT GNNC_LLVM_CACHED STREQUAL "${GNNC_LLVM_CONFIG};${GNNC_LLVM_SHARED}")
      set(llvm_config ${CMAKE_CROSSCOMPILING_EMULATOR} ${GNNC_LLVM_CONFIG})
      set(components core orcjit native passes analysis bitwriter irreader executionengine jitlink)
      execute_process(COMMAND ${llvm_config} --version --includedir --libdir
                      OUTPUT_VARIABLE out OUTPUT_STRIP_TRAILING_WHITESPACE
                      COMMAND_ERROR_IS_FATAL ANY)
      string(REPLACE "\n" ";" out "${out}")
      list(GET out 0 version)
      list(GET out 1 includedir)
      list(GET out 2 libdir)
      execute_process(COMMAND ${llvm_config} --link-static --libfiles ${components}
                      OUTPUT_VARIABLE files OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                      RESULT_VARIABLE failed)
      separate_arguments(files UNIX_COMMAND "${files}")
      set(GNNC_LLVM_VERSION "${version}" CACHE INTERNAL "")
      set(GNNC_LLVM_INCLUDE "${includedir}" CACHE INTERNAL "")
      set(GNNC_LLVM_LIBDIR "${libdir}" CACHE INTERNAL "")
      set(GNNC_LLVM_FILES "${files}" CACHE INTERNAL "")
      set(GNNC_LLVM_CACHED "${GNNC_LLVM_CONFIG};${GNNC_LLVM_SHARED}" CACHE INTERNAL "")
    endif()
    if(NOT GNNC_LLVM_VERSION MATCHES "^19\\.")
      message(STATUS "gnnc: LLVM ${GNNC_LLVM_VERSION} found, 19 is needed: no CPU back end")
    elseif(GNNC_LLVM_SHARED OR NOT GNNC_LLVM_FILES)
      find_library(GNNC_LLVM_SO NAMES LLVM-19 LLVM PATHS "${GNNC_LLVM_LIBDIR}"
                   NO_DEFAULT_PATH REQUIRED)
      target_link_libraries(gnnc_llvm INTERFACE ${GNNC_LLVM_SO})
      set(GNNC_HAVE_LLVM 1)
    else()
      gnnc_find(GNNC_ZSTD zstd OPTIONAL)
      execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libstdc++.a
                      OUTPUT_VARIABLE stdcxx OUTPUT_STRIP_TRAILING_WHITESPACE)
      if(NOT EXISTS "${stdcxx}")
        set(stdcxx stdc++)
      endif()
      set(archives ${GNNC_LLVM_FILES} ${stdcxx} ${GNNC_ZLIB} ${GNNC_ZSTD})
      # A target with the property GNNC_LLVM_BESIDE takes the shared library where there is one: it
      # is linked in a quarter of the time.
      find_library(GNNC_LLVM_BESIDE NAMES LLVM-19 PATHS "${GNNC_LLVM_LIBDIR}" NO_DEFAULT_PATH)
      mark_as_advanced(GNNC_LLVM_BESIDE)
      if(GNNC_LLVM_BESIDE)
        set(beside "$<BOOL:$<TARGET_PROPERTY:GNNC_LLVM_BESIDE>>")
        set(archives "$<IF:${beside},${GNNC_LLVM_BESIDE},${archives}>")
      endif()
      target_link_libraries(gnnc_llvm INTERFACE "${archives}" m ${CMAKE_DL_LIBS} Threads::Threads)
      if(NOT APPLE)
        target_link_options(gnnc_llvm INTERFACE -static-libgcc)
      endif()
      set(GNNC_HAVE_LLVM 1)
    endif()
    target_include_directories(gnnc_llvm SYSTEM INTERFACE "${GNNC_LLVM_INCLUDE}")
  endif()
endif()
if(GNNC_HAVE_LLVM)
  set(kind static)
  if(GNNC_LLVM_SHARED)
    set(kind shared)
  endif()
  message(STATUS "gnnc: LLVM ${GNNC_LLVM_VERSION} (${kind})")
else()
  message(STATUS "gnnc: no LLVM 19: building without the CPU back end")
endif()
add_compile_definitions(GNNC_HAVE_LLVM=${GNNC_HAVE_LLVM} GNNC_LLVM_VERSION="${GNNC_LLVM_VERSION}")
