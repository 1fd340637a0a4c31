# SPDX-License-Identifier: BSD-2-Clause
# Cross-compiles for 64-bit ARM with Debian's gcc-aarch64-linux-gnu, and runs the programs by qemu-user-static:
#
#   deploy/packages/sysroot arm64 build/aarch64.root deploy/packages/cross.txt
#   cmake -B build/aarch64 --toolchain deploy/cmake/aarch64-linux-gnu.cmake \
#         -DCMAKE_SYSROOT="$PWD/build/aarch64.root" -DDYNAMICS_BUILD_SERVICE=OFF
#   cmake --build build/aarch64
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${CMAKE_SYSROOT})
