# SPDX-License-Identifier: BSD-2-Clause
# separate_symbols(TARGET DIRECTORY): moves the debug symbols of the target's file, installed in DIRECTORY, to a file of
# their own below lib/debug, where gdb finds them.
option(DYNAMICS_SEPARATE_SYMBOLS "Install debug symbols in files of their own" ON)
function(separate_symbols target_name directory)
  if(DYNAMICS_SANITIZE OR NOT DYNAMICS_SEPARATE_SYMBOLS OR NOT CMAKE_OBJCOPY OR NOT CMAKE_STRIP)
    return()
  endif()
  install(CODE "
    set(installed \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${directory}/$<TARGET_FILE_NAME:${target_name}>\")
    set(symbols \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/debug\${CMAKE_INSTALL_PREFIX}/${directory}\")
    file(MAKE_DIRECTORY \"\${symbols}\")
    set(symbols \"\${symbols}/$<TARGET_FILE_NAME:${target_name}>.debug\")
    foreach(step
        \"${CMAKE_OBJCOPY};--only-keep-debug;\${installed};\${symbols}\"
        \"${CMAKE_STRIP};--strip-unneeded;\${installed}\"
        \"${CMAKE_OBJCOPY};--remove-section=.gnu_debuglink;--add-gnu-debuglink=\${symbols};\${installed}\")
      execute_process(COMMAND \${step} COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
endfunction()

# install_program(TARGET): installs a program, and its debug symbols beside it.
function(install_program target_name)
  install(TARGETS ${target_name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  separate_symbols(${target_name} ${CMAKE_INSTALL_BINDIR})
endfunction()
