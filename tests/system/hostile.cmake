# SPDX-License-Identifier: BSD-2-Clause
# Tests with bad input and bad peers, over sockets whose tests implement nng's wire protocol.
add_library(hostile_support STATIC hostile_witness.c load.c sp_request.c sp_wire.c ../support/random.c)
# Longest time in seconds that another client may wait while the daemon is attacked; sanitizers need more.
set(hostile_stall 0.5)
if(DYNAMICS_SANITIZE)
  set(hostile_stall 2.5)
endif()
target_compile_definitions(hostile_support PUBLIC HOSTILE_STALL=${hostile_stall})
target_link_libraries(hostile_support PUBLIC system_support dynamics_proto Threads::Threads m)

foreach(test access contract_golden hostile_bytes hostile_life hostile_live hostile_memory hostile_peers
    hostile_requests identity tls user_limits)
  add_system_test(${test} hostile_support)
endforeach()
run_alone(hostile_bytes hostile_life hostile_live hostile_memory hostile_peers hostile_requests)

# Sanitizers need several times the memory of a plain daemon, so the bound is measured without them.
if(NOT DYNAMICS_SANITIZE)
  add_test(NAME system.memory_attack
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/memory_attack $<TARGET_FILE:dynamicsd> ${PROJECT_SOURCE_DIR}/deploy/robots)
  set_tests_properties(system.memory_attack PROPERTIES LABELS system SKIP_RETURN_CODE 77 TIMEOUT 120 RUN_SERIAL TRUE)
endif()

# Sanitizers need several times the memory of a plain daemon for each connection.
if(NOT DYNAMICS_SANITIZE)
  add_system_test(many_connections hostile_support)
endif()

# The n-th allocation, or system call, of each method fails. A sanitizer has allocation functions of its own.
if(NOT DYNAMICS_SANITIZE)
  add_library(failing_calls MODULE ../support/failing_calls.c)
  target_compile_definitions(failing_calls PRIVATE _GNU_SOURCE)
  target_link_libraries(failing_calls PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(failing_calls PROPERTIES PREFIX "")
  add_system_test(failures hostile_support)
  target_sources(system_failures PRIVATE method_request.c)
  target_compile_definitions(system_failures PRIVATE FAILING_LIBRARY="$<TARGET_FILE:failing_calls>")
  add_dependencies(system_failures failing_calls)

  # The wall clock jumps, and the disk is slow.
  add_library(odd_machine MODULE ../support/odd_machine.c)
  target_compile_definitions(odd_machine PRIVATE _GNU_SOURCE)
  target_link_libraries(odd_machine PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(odd_machine PROPERTIES PREFIX "")
  add_system_test(odd_machine hostile_support m)
  target_compile_definitions(system_odd_machine PRIVATE ODD_LIBRARY="$<TARGET_FILE:odd_machine>")
  add_dependencies(system_odd_machine odd_machine)
  run_alone(odd_machine)
endif()
