# SPDX-License-Identifier: BSD-2-Clause
# nng, and the known defects of this version. server/transport/nng_repairs.c repairs them in the daemon,
# clients/c/src/nng_repair.c in the clients. A repair whose definition is 0 does nothing.
find_package(nng CONFIG REQUIRED)
add_library(dynamics_nng INTERFACE)
target_link_libraries(dynamics_nng INTERFACE nng::nng)

set(stops_listening 0)
if(nng_VERSION VERSION_LESS 1.6)
  set(stops_listening 1)
endif()
set(waits_for_refused 0)
if(nng_VERSION VERSION_LESS 1.9)
  set(waits_for_refused 1)
endif()
target_compile_definitions(dynamics_nng INTERFACE
  NNG_STOPS_LISTENING=${stops_listening} NNG_WAITS_FOR_REFUSED=${waits_for_refused})

# nng from its archive, with its calls of some functions replaced by those of nng_repair.c. The clients use it, since a
# shared library must not export replacements of nng's functions to the programs that use it.
find_library(NNG_ARCHIVE libnng.a REQUIRED)
find_package(Threads REQUIRED)
foreach(library mbedtls mbedx509 mbedcrypto)
  find_library(${library}_LIBRARY ${library} REQUIRED)
  list(APPEND nng_needs ${${library}_LIBRARY})
endforeach()
add_library(dynamics_nng_archive INTERFACE)
target_sources(dynamics_nng_archive INTERFACE
  ${PROJECT_SOURCE_DIR}/clients/c/src/nng_repair.c ${PROJECT_SOURCE_DIR}/clients/nng/nng_dialer.c)
target_include_directories(dynamics_nng_archive INTERFACE ${PROJECT_SOURCE_DIR}/clients/nng)
target_include_directories(dynamics_nng_archive SYSTEM INTERFACE
  $<TARGET_PROPERTY:nng::nng,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(dynamics_nng_archive INTERFACE
  $<TARGET_PROPERTY:dynamics_nng,INTERFACE_COMPILE_DEFINITIONS>)
foreach(symbol nni_plat_errno nng_stream_send nng_stream_recv stdout stderr)
  target_link_options(dynamics_nng_archive INTERFACE LINKER:--wrap=${symbol})
endforeach()
target_link_libraries(dynamics_nng_archive INTERFACE ${NNG_ARCHIVE} ${nng_needs} Threads::Threads)
