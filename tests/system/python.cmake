# SPDX-License-Identifier: BSD-2-Clause
# The Python client with a real daemon: its tests, the examples in its documentation, and its types.
if(NOT TARGET python_client)
  return()
endif()
add_executable(python_c_numbers python/c_numbers.c)
target_link_libraries(python_c_numbers PRIVATE dynamics_flags dynamicsclient)

set(python_tests ${CMAKE_CURRENT_SOURCE_DIR}/python)
set(pytest ${DYNAMICS_PYTHON} -m pytest -q -p no:cacheprovider -p daemon_fixtures)
add_test(NAME system.python COMMAND ${pytest} ${python_tests})
add_test(NAME system.python_documentation COMMAND ${pytest} --doctest-modules --pyargs dynamicsd)
add_test(NAME system.python_types
         COMMAND ${DYNAMICS_PYTHON} -m mypy --config-file pyproject.toml --cache-dir ${CMAKE_CURRENT_BINARY_DIR}/mypy
         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/clients/python)
# The examples are what programs of users look like: strict too. Debian's matplotlib has no types.
add_test(NAME system.python_examples_types
         COMMAND ${DYNAMICS_PYTHON} -m mypy --strict --scripts-are-modules --disable-error-code=import
                 --enable-incomplete-feature=Unpack --cache-dir ${CMAKE_CURRENT_BINARY_DIR}/mypy
                 examples/feasibility.py examples/feed_forward.py examples/identification.py examples/swing_up.py
         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/clients/python)
set(python_path ${PROJECT_BINARY_DIR}/python ${python_tests} ${CMAKE_CURRENT_SOURCE_DIR}/other_language
                ${PROJECT_SOURCE_DIR}/proto)
list(JOIN python_path ":" python_path)
set_tests_properties(system.python system.python_documentation system.python_types system.python_examples_types
  PROPERTIES LABELS system TIMEOUT 300
  ENVIRONMENT "PYTHONPATH=${python_path};PYTHONDONTWRITEBYTECODE=1;DYNAMICSD=$<TARGET_FILE:dynamicsd>;\
ROBOTS=${PROJECT_SOURCE_DIR}/deploy/robots;PROJECT=${PROJECT_SOURCE_DIR};\
C_NUMBERS=$<TARGET_FILE:python_c_numbers>;MPLBACKEND=agg")
