# A file as a C array: cmake -DIN=<file> -DOUT=<file.c> -DNAME=<symbol> -P cmake/embed.cmake
# writes `const unsigned char NAME[]` (with a terminating zero that is not counted) and
# `const size_t NAME_size`.
foreach(variable IN ITEMS IN OUT NAME)
  if(NOT DEFINED ${variable})
    message(FATAL_ERROR "embed.cmake: -D${variable}=... is missing")
  endif()
endforeach()
file(SIZE "${IN}" size)
file(READ "${IN}" hex HEX)
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
get_filename_component(base "${IN}" NAME)
file(WRITE "${OUT}" "/* Generated from ${base}. */
#include <stddef.h>

extern const unsigned char ${NAME}[];
extern const size_t ${NAME}_size;
const unsigned char ${NAME}[] = {
${hex}0};
const size_t ${NAME}_size = ${size};
")
