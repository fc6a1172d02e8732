# Rooms and embedded files.
set(GNNC_ROOMS "" CACHE INTERNAL "rooms that have sources")
set(GNNC_GEN_DIR "${CMAKE_BINARY_DIR}/gen")

# gnnc_room(<name> [RECURSE] SOURCES <globs> [EXCLUDE <files>] LINKS <public> [PRIVATE <private>])
# Makes gnnc_<name>, a static library; a room without sources is an interface that only passes its
# links on.
function(gnnc_room name)
  cmake_parse_arguments(arg "RECURSE" "" "SOURCES;EXCLUDE;LINKS;PRIVATE" ${ARGN})
  set(mode GLOB)
  if(arg_RECURSE)
    set(mode GLOB_RECURSE)
  endif()
  list(TRANSFORM arg_SOURCES PREPEND "${CMAKE_SOURCE_DIR}/")
  file(${mode} sources CONFIGURE_DEPENDS ${arg_SOURCES})
  foreach(file IN LISTS arg_EXCLUDE)
    list(REMOVE_ITEM sources "${CMAKE_SOURCE_DIR}/${file}")
  endforeach()
  set(include "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}/include")
  if(sources)
    add_library(gnnc_${name} STATIC ${sources})
    target_include_directories(gnnc_${name} PUBLIC ${include})
    target_link_libraries(gnnc_${name} PUBLIC ${arg_LINKS} PRIVATE ${arg_PRIVATE})
    set(GNNC_ROOMS ${GNNC_ROOMS} ${name} CACHE INTERNAL "")
  else()
    message(STATUS "gnnc: room ${name} is empty")
    add_library(gnnc_${name} INTERFACE)
    target_include_directories(gnnc_${name} INTERFACE ${include})
    target_link_libraries(gnnc_${name} INTERFACE ${arg_LINKS} ${arg_PRIVATE})
  endif()
endfunction()

# One generated C file a file, by cmake/embed.cmake; gives their list and their symbols.
function(gnnc_embed_rules out_sources out_symbols prefix)
  set(sources "")
  set(symbols "")
  foreach(file IN LISTS ARGN)
    get_filename_component(base "${file}" NAME)
    string(MAKE_C_IDENTIFIER "${base}" id)
    set(c "${GNNC_GEN_DIR}/${prefix}${id}.c")
    add_custom_command(
      OUTPUT "${c}"
      COMMAND ${CMAKE_COMMAND} "-DIN=${file}" "-DOUT=${c}" "-DNAME=${prefix}${id}" -P
              "${CMAKE_SOURCE_DIR}/cmake/embed.cmake"
      DEPENDS "${file}" "${CMAKE_SOURCE_DIR}/cmake/embed.cmake"
      COMMENT "Embedding ${base}"
      VERBATIM)
    list(APPEND sources "${c}")
    list(APPEND symbols "${prefix}${id}")
  endforeach()
  set(${out_sources} "${sources}" PARENT_SCOPE)
  set(${out_symbols} "${symbols}" PARENT_SCOPE)
endfunction()

# gnnc_embed_files(<name> <globs>): gnnc_embedded_<name>, with `const unsigned char
# gn_embedded_<file>[]` and `const size_t gn_embedded_<file>_size` for every file, <file> being its
# name with _ for what C does not allow.
function(gnnc_embed_files name)
  list(TRANSFORM ARGN PREPEND "${CMAKE_SOURCE_DIR}/" OUTPUT_VARIABLE globs)
  file(GLOB files CONFIGURE_DEPENDS ${globs})
  if(files)
    gnnc_embed_rules(sources symbols gn_embedded_ ${files})
    add_library(gnnc_embedded_${name} STATIC ${sources})
  else()
    add_library(gnnc_embedded_${name} INTERFACE)
  endif()
endfunction()

# gnnc_embed_table(<name> <symbol> <header> <globs>): gnnc_embedded_<name>, with the table
# `const gn_embedded <symbol>_files[]` and `const size_t <symbol>_count`, sorted by name, which
# <header> declares.
function(gnnc_embed_table name symbol header)
  list(TRANSFORM ARGN PREPEND "${CMAKE_SOURCE_DIR}/" OUTPUT_VARIABLE globs)
  file(GLOB files CONFIGURE_DEPENDS ${globs})
  gnnc_embed_rules(sources symbols ${symbol}_file_ ${files})
  set(includes "")
  set(rows "")
  foreach(file id c IN ZIP_LISTS files symbols sources)
    get_filename_component(base "${file}" NAME)
    string(APPEND includes "#include \"${id}.c\"\n")
    string(APPEND rows "    {\"${base}\", ${id}, sizeof ${id} - 1},\n")
  endforeach()
  list(LENGTH files count)
  set(table "${GNNC_GEN_DIR}/${symbol}_table.c")
  file(GENERATE OUTPUT "${table}" CONTENT "/* Generated: the files of ${name}/. */
#include \"${header}\"

${includes}
const gn_embedded ${symbol}_files[] = {
${rows}    {0, 0, 0},
};
const size_t ${symbol}_count = ${count};
")
  set_source_files_properties(${sources} PROPERTIES HEADER_FILE_ONLY ON)
  set_source_files_properties("${table}" PROPERTIES OBJECT_DEPENDS "${sources}")
  add_library(gnnc_embedded_${name} STATIC "${table}" ${sources})
  target_include_directories(gnnc_embedded_${name} PRIVATE "${CMAKE_SOURCE_DIR}/src")
endfunction()

# gnnc_code_id(CODE <globs> RULES <globs>): gnnc_embedded_code_id, with `const char gn_code_id[]`
# and `gn_rules_id[]`, digests of the files.
function(gnnc_code_id)
  cmake_parse_arguments(PARSE_ARGV 0 id "" "" "CODE;RULES")
  set(paths "")
  foreach(kind IN ITEMS CODE RULES)
    list(TRANSFORM id_${kind} PREPEND "${CMAKE_SOURCE_DIR}/")
    file(GLOB files_${kind} RELATIVE "${CMAKE_SOURCE_DIR}" CONFIGURE_DEPENDS ${id_${kind}})
    list(TRANSFORM files_${kind} PREPEND "${CMAKE_SOURCE_DIR}/" OUTPUT_VARIABLE more)
    list(APPEND paths ${more})
  endforeach()
  set(c "${GNNC_GEN_DIR}/code_id.c")
  add_custom_command(
    OUTPUT "${c}"
    COMMAND ${CMAKE_COMMAND} "-DROOT=${CMAKE_SOURCE_DIR}" "-DCODE=${files_CODE}"
            "-DRULES=${files_RULES}" "-DOUT=${c}" -P "${CMAKE_SOURCE_DIR}/cmake/code_id.cmake"
    DEPENDS ${paths} "${CMAKE_SOURCE_DIR}/cmake/code_id.cmake"
    COMMENT "Digests of the compiler"
    VERBATIM)
  add_library(gnnc_embedded_code_id STATIC "${c}")
endfunction()

# gnnc_embed_runtime(SOURCES <globs> EXCLUDE <files>): gnnc_embedded_runtime, with the sources
# compiled and joined to one relocatable object, as gnnc_embed_files has a file.  It goes into other
# people's programs: for the least processor of its kind, position-independent, optimised whatever
# the build is, with no sanitizer, and with no names to be seen but those that are marked.
function(gnnc_embed_runtime)
  cmake_parse_arguments(arg "" "" "SOURCES;EXCLUDE" ${ARGN})
  list(TRANSFORM arg_SOURCES PREPEND "${CMAKE_SOURCE_DIR}/")
  list(TRANSFORM arg_EXCLUDE PREPEND "${CMAKE_SOURCE_DIR}/")
  file(GLOB sources CONFIGURE_DEPENDS ${arg_SOURCES})
  list(REMOVE_ITEM sources ${arg_EXCLUDE})
  add_library(gnnc_aot_runtime OBJECT ${sources})
  target_include_directories(gnnc_aot_runtime PRIVATE "${CMAKE_SOURCE_DIR}/src"
                             "${CMAKE_SOURCE_DIR}")
  target_compile_definitions(gnnc_aot_runtime PRIVATE GNNC_EMBEDDED=1)
  target_compile_options(gnnc_aot_runtime PRIVATE -O2 -g0 -fPIC -fno-sanitize=all
                         -fno-stack-protector -fno-lto)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64") # calls to libgcc else
    target_compile_options(gnnc_aot_runtime PRIVATE -mno-outline-atomics)
  endif()
  set(object "${GNNC_GEN_DIR}/aot_runtime.o")
  add_custom_command(
    OUTPUT "${object}"
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o "${object}" $<TARGET_OBJECTS:gnnc_aot_runtime>
    DEPENDS $<TARGET_OBJECTS:gnnc_aot_runtime>
    COMMENT "Joining the runtime of objects compiled ahead of time"
    COMMAND_EXPAND_LISTS VERBATIM)
  gnnc_embed_rules(c symbols gn_embedded_ "${object}")
  add_library(gnnc_embedded_runtime STATIC ${c})
endfunction()
