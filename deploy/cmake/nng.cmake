# SPDX-License-Identifier: BSD-2-Clause
# nng, and which of its known defects this version has. server/transport/nng_repairs.c and clients/c/src/nng_repair.c
# put them right from outside; where a definition is 0, their repair does nothing.
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
