# SPDX-License-Identifier: BSD-2-Clause
# Tests of dynamics-rosbridge, by a client in Python and by real clients.
find_program(PYTHON3 python3 REQUIRED)

# add_rosbridge_test(NAME [argument...]) adds rosbridge/NAME.py as system.rosbridge_NAME. Each starts a daemon and a
# gateway of its own, and mostly waits: one at a time runs in parallel with other tests.
function(add_rosbridge_test name)
  add_test(NAME system.rosbridge_${name} COMMAND ${PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/rosbridge/${name}.py ${ARGN})
  set_tests_properties(system.rosbridge_${name} PROPERTIES
    LABELS system SKIP_RETURN_CODE 77 TIMEOUT 120 RESOURCE_LOCK rosbridge
    ENVIRONMENT "DYNAMICSD=$<TARGET_FILE:dynamicsd>;DYNAMICSCTL=$<TARGET_FILE:dynamicsctl>;\
DYNAMICS_ROSBRIDGE=$<TARGET_FILE:dynamics-rosbridge>;ROBOTS=${PROJECT_SOURCE_DIR}/deploy/robots;\
WORK=${CMAKE_CURRENT_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1;PYTHONWARNINGS=ignore::ResourceWarning;\
${system_environment}")
endfunction()

add_rosbridge_test(protocol)
add_rosbridge_test(operations)
add_rosbridge_test(topics)
add_rosbridge_test(inputs)
add_rosbridge_test(goals)
add_rosbridge_test(secrets)
add_rosbridge_test(same_numbers)
add_rosbridge_test(access)
add_rosbridge_test(usage)
add_rosbridge_test(dial)
add_rosbridge_test(nats)
add_rosbridge_test(wire)
add_rosbridge_test(viewers)
add_rosbridge_test(python_client)
# The test ends connections that are idle for half a second.
set_tests_properties(system.rosbridge_access PROPERTIES RUN_SERIAL TRUE)

add_test(NAME system.rosbridge_message_files
         COMMAND ${PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/rosbridge/message_files.py $<TARGET_FILE:rosbridge_messages>)
set_tests_properties(system.rosbridge_message_files PROPERTIES LABELS system)

add_dependencies(threaded_tests dynamicsctl dynamics-rosbridge rosbridge_messages)
# Real clients run with the plain build, since they do not test memory.
if(NOT DYNAMICS_SANITIZE)
  add_rosbridge_test(node_roslib)
  add_rosbridge_test(older_clients)
  add_rosbridge_test(browser)
  add_rosbridge_test(message_compilers ${PROJECT_BINARY_DIR}/clients/rosbridge/ros)
  add_rosbridge_test(ros_builds ${PROJECT_BINARY_DIR}/clients/rosbridge/ros)
  add_rosbridge_test(ros1)
  # A fixture fetches their packages.
  set_tests_properties(system.rosbridge_node_roslib system.rosbridge_older_clients system.rosbridge_browser
    PROPERTIES TIMEOUT 400)
  set_tests_properties(system.rosbridge_message_compilers PROPERTIES TIMEOUT 300 FIXTURES_SETUP ros_messages)
  set_tests_properties(system.rosbridge_ros_builds PROPERTIES TIMEOUT 300)
  set_tests_properties(system.rosbridge_ros1 PROPERTIES FIXTURES_REQUIRED ros_messages)
endif()
