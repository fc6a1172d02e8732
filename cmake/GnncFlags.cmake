# Compiler and linker flags, once for every target.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
# Rooms also go into a library that others may link into a shared object.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_compile_definitions(_GNU_SOURCE GNNC_VERSION="${PROJECT_VERSION}")

add_compile_options(
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes
  -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla -Wundef
  -Wno-missing-field-initializers # rows of tables leave out what is zero
  -ffp-contract=off               # no compiler contracts floats behind our back
  -fno-math-errno
  -ffunction-sections -fdata-sections)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # gcc does not see that a status other than NULL leaves before what it did not set is read.
  add_compile_options(-Wno-maybe-uninitialized)
endif()
if(GNNC_WERROR)
  add_compile_options(-Werror)
endif()

# __FILE__ and debug information are relative to the repository: objects do not say where they were
# built.
add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}/="
                    "-ffile-prefix-map=${CMAKE_BINARY_DIR}/=build/"
                    "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build")

if(GNNC_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "GNNC_FUZZ needs clang (libFuzzer); use the fuzz preset")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_compile_definitions(GNNC_FUZZ=1)
endif()
if(GNNC_SANITIZE)
  add_compile_options(-fsanitize=${GNNC_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${GNNC_SANITIZE})
  if(GNNC_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
    if(CMAKE_C_COMPILER_ID MATCHES "Clang")
      # Reads a signature in front of the callee, which generated code does not have.
      add_compile_options(-fno-sanitize=function)
    endif()
  endif()
endif()

# lld links the static LLVM in under a second; GNU ld takes many times that. Debian keeps lld-19
# beside LLVM 19.
find_program(GNNC_LLD NAMES ld.lld PATHS /usr/lib/llvm-19/bin NO_DEFAULT_PATH)
if(GNNC_LLD)
  get_filename_component(lld_dir "${GNNC_LLD}" DIRECTORY)
  # LLVM's constructors side by side, as GNU ld lays them out: 0.4 ms less of page faults at process
  # start.
  add_link_options(-fuse-ld=lld -Wl,-z,keep-text-section-prefix)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    add_link_options("-B${lld_dir}")
  endif()
endif()
if(NOT APPLE)
  add_link_options(-Wl,--gc-sections)
endif()

# What every executable gets. Without PIE the loader has no relocations of LLVM's tables to apply:
# 3.3 ms to start rather than 5.5 ms (20 ms with the shared libLLVM). ThreadSanitizer wants PIE.
function(gnnc_executable target)
  if(NOT GNNC_PIE AND NOT GNNC_SANITIZE MATCHES "thread" AND NOT GNNC_FUZZ AND NOT APPLE)
    target_link_options(${target} PRIVATE -no-pie)
  endif()
endfunction()
