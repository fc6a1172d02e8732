# Cross-compiling for 64-bit Arm from another Debian: a toolchain file.  GNNC_SYSROOT, in the
# environment or a variable, is a Debian of that architecture (tests/arm64.py makes one); programs
# of it, llvm-config among them, run under qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
if(NOT GNNC_SYSROOT)
  set(GNNC_SYSROOT "$ENV{GNNC_SYSROOT}")
endif()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GNNC_SYSROOT)
set(CMAKE_SYSROOT "${GNNC_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L "${GNNC_SYSROOT}")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${GNNC_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${GNNC_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig")
set(GNNC_LD aarch64-linux-gnu-ld CACHE FILEPATH "")
set(GNNC_LLVM_CONFIG "${GNNC_SYSROOT}/usr/lib/llvm-19/bin/llvm-config" CACHE FILEPATH "")
