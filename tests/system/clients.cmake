# SPDX-License-Identifier: BSD-2-Clause
# Tests of the clients, and of the daemon's numbers through them.
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)

add_library(quantity_question STATIC quantity_question.c)
target_link_libraries(quantity_question PUBLIC system_support)
add_library(system_reference STATIC reference.c)
target_compile_definitions(system_reference PUBLIC DYNAMICS_REFERENCE_DIR="${DYNAMICS_REFERENCE_DIR}")
target_link_libraries(system_reference PUBLIC quantity_question system_support PkgConfig::JANSSON m)

add_system_test(golden system_reference)
add_system_test(evaluate system_reference)
add_system_test(evaluate_derivatives system_reference)
add_system_test(evaluate_task system_reference)
add_system_test(explain system_reference)
add_system_test(formulations m)
add_system_test(rollouts m)
add_system_test(jobs)
# One test computes a job of several minutes under the thread sanitizer.
set_tests_properties(system.jobs PROPERTIES TIMEOUT 900)

add_library(silent_peer STATIC silent_peer.c)
target_link_libraries(silent_peer PUBLIC system_support Threads::Threads)

add_system_test(client silent_peer m)
target_compile_definitions(system_client PRIVATE EXAMPLE_PROGRAM="$<TARGET_FILE:example_inverse_dynamics>"
                                                 BATCH_PROGRAM="$<TARGET_FILE:example_gravity_batch>")
add_dependencies(system_client example_inverse_dynamics example_gravity_batch)

add_library(command_line STATIC command_line.c)
target_link_libraries(command_line PUBLIC system_support PkgConfig::JANSSON)
target_compile_definitions(command_line PUBLIC DYNAMICSCTL_PROGRAM="$<TARGET_FILE:dynamicsctl>")
add_dependencies(command_line dynamicsctl)

add_system_test(cli command_line silent_peer m)
add_system_test(cli_output command_line)
add_system_test(cli_identification command_line)
add_system_test(constraints command_line m)
add_system_test(constraint_space command_line m)
add_system_test(machine_elements command_line m)
add_system_test(machine_motions command_line m)
add_system_test(motors command_line m)
add_system_test(contacts command_line m)

add_system_test(lying_daemon dynamics_proto Threads::Threads)
target_sources(system_lying_daemon PRIVATE lying_peer.c ../support/random.c)
add_system_test(job_answers dynamics_proto Threads::Threads)
target_sources(system_job_answers PRIVATE lying_peer.c)

add_system_test(hostile_text dynamics_proto PkgConfig::JANSSON Threads::Threads)
target_sources(system_hostile_text PRIVATE lying_peer.c)
target_compile_definitions(system_hostile_text PRIVATE DYNAMICSCTL_PROGRAM="$<TARGET_FILE:dynamicsctl>")
add_dependencies(system_hostile_text dynamicsctl)

# Random trees in the library and in the daemon.
add_library(wire_tree STATIC
  client_fixture.c wire_quantities.c wire_tree.c ../support/random.c ../support/random_tree.c)
target_link_libraries(wire_tree PUBLIC quantity_question system_support dynamics m)
add_system_test(models wire_tree)
add_system_test(payloads wire_tree)
add_system_test(articulated_inertia wire_tree)
target_sources(system_articulated_inertia PRIVATE ../support/assertions.c)
add_system_test(base_motion wire_tree)
target_sources(system_base_motion PRIVATE ../support/assertions.c)
add_system_test(closed_loops wire_tree system_reference)
target_sources(system_closed_loops PRIVATE ../support/assertions.c ../support/closed_loop_reference.c)
add_system_test(sample_errors dynamics_proto wire_tree)
add_system_test(query dynamics_proto wire_tree)
add_system_test(client_calls wire_tree)
add_system_test(single_precision wire_tree)
add_system_test(bodies wire_tree)
add_system_test(base_parameters wire_tree system_reference)
target_sources(system_base_parameters PRIVATE ../support/assertions.c)
add_system_test(identify wire_tree)
target_sources(system_identify PRIVATE ../support/assertions.c)
add_system_test(hostile_models wire_tree)

# Simulations, streams and recordings of the daemon. Clients that are killed run commands of dynamicsctl.
foreach(test simulations streams)
  add_system_test(${test} quantity_question m)
  target_compile_definitions(system_${test} PRIVATE DYNAMICSCTL_PROGRAM="$<TARGET_FILE:dynamicsctl>"
                                                    PLANNER_PROGRAM="$<TARGET_FILE:example_planner>")
  add_dependencies(system_${test} dynamicsctl example_planner)
endforeach()
add_system_test(durability Threads::Threads)
target_sources(system_durability PRIVATE ../support/random.c)
target_compile_definitions(system_durability PRIVATE DYNAMICSCTL_PROGRAM="$<TARGET_FILE:dynamicsctl>")
add_dependencies(system_durability dynamicsctl)
run_alone(simulations streams)
add_system_test(recordings dynamics_proto)
add_system_test(custom_joints wire_tree)
target_sources(system_custom_joints PRIVATE ../support/assertions.c)
add_system_test(joint_types wire_tree)
