# SPDX-License-Identifier: BSD-2-Clause
# Client in another language, generated from the .proto files only: Python with the protobuf package of Debian's own
# interpreter.
find_program(PROTOC protoc REQUIRED)
find_program(DEBIAN_PYTHON3 python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)

add_test(NAME system.other_language
         COMMAND ${DEBIAN_PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/other_language/every_method.py)
add_test(NAME system.limits
         COMMAND ${DEBIAN_PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/other_language/limits.py)
add_test(NAME system.later_contract
         COMMAND ${DEBIAN_PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/other_language/later.py)
add_test(NAME system.observation
         COMMAND ${DEBIAN_PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/other_language/observation.py)
set_tests_properties(system.other_language system.limits system.later_contract system.observation PROPERTIES
  LABELS system TIMEOUT 300
  ENVIRONMENT "DYNAMICSD=$<TARGET_FILE:dynamicsd>;PROTOC=${PROTOC};PROTO=${PROJECT_SOURCE_DIR}/proto;\
ROBOTS=${PROJECT_SOURCE_DIR}/deploy/robots;PYTHONDONTWRITEBYTECODE=1;PYTHONWARNINGS=ignore::ResourceWarning;\
${system_environment}")

# Operations of formulations, as the script of the benchmark measures them.
add_test(NAME system.growth_of_formulations
         COMMAND ${DEBIAN_PYTHON3} ${CMAKE_CURRENT_SOURCE_DIR}/growth_of_formulations.py
                 ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set_tests_properties(system.growth_of_formulations PROPERTIES LABELS system TIMEOUT 300
  ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;${system_environment}")
