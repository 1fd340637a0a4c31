# SPDX-License-Identifier: BSD-2-Clause
# Runs at install time: writes the unit and the configuration for the prefix of the installation and installs them.
# Set by the caller: source_dir and binary_dir of deploy/, docdir; CMAKE_INSTALL_PREFIX.

# Under /usr the configuration is in /etc, elsewhere below the prefix.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(sysconfdir /etc)
else()
  set(sysconfdir ${CMAKE_INSTALL_PREFIX}/etc)
endif()

# Unit of further daemons on a machine: that of the daemon, with names of the instance.
file(READ ${source_dir}/systemd/dynamicsd.service unit)
set(instance "dynamicsd under systemd, as the instance NAME of several: systemctl enable --now dynamicsd@NAME.
#
# The configuration is /etc/dynamicsd/NAME.conf. It states addresses and a state directory that no other daemon has:
# sockets in /run/dynamicsd-NAME, ports of its own, and /var/lib/dynamicsd-NAME (instance.conf.example).
#")
foreach(change "dynamicsd under systemd.\n#|${instance}" "dynamics service\n|dynamics service %i\n"
               "dynamicsd.conf\nExecReload|%i.conf\nExecReload" "socket in /run/dynamicsd |socket there "
               "RuntimeDirectory=dynamicsd\n|RuntimeDirectory=dynamicsd-%i\n"
               "StateDirectory=dynamicsd\n|StateDirectory=dynamicsd-%i\n")
  string(REPLACE "|" ";" change "${change}")
  list(GET change 0 from)
  list(GET change 1 to)
  string(FIND "${unit}" "${from}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "dynamicsd.service has no text ${from}")
  endif()
  string(REPLACE "${from}" "${to}" unit "${unit}")
endforeach()
set(generated_dir ${binary_dir}/generated)
file(WRITE ${generated_dir}/systemd/dynamicsd@.service "${unit}")

foreach(file systemd/dynamicsd.service systemd/dynamics-rosbridge.service dynamicsd.conf rosbridge.conf
             systemd/dynamicsd@.service systemd/dynamics-compile.socket systemd/dynamics-compile@.service)
  set(from_dir ${source_dir})
  if(NOT EXISTS ${source_dir}/${file})
    set(from_dir ${generated_dir})
  endif()
  file(READ ${from_dir}/${file} text)
  string(REPLACE "/usr/bin/dynamicsd" "${CMAKE_INSTALL_PREFIX}/bin/dynamicsd" text "${text}")
  string(REPLACE "/usr/bin/dynamics-compile" "${CMAKE_INSTALL_PREFIX}/bin/dynamics-compile" text "${text}")
  string(REPLACE "/usr/bin/dynamics-rosbridge" "${CMAKE_INSTALL_PREFIX}/bin/dynamics-rosbridge" text "${text}")
  string(REPLACE "/usr/share/" "${CMAKE_INSTALL_PREFIX}/share/" text "${text}")
  string(REPLACE "/etc/dynamicsd/" "${sysconfdir}/dynamicsd/" text "${text}")
  if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(ours "${CMAKE_INSTALL_PREFIX}/bin ${CMAKE_INSTALL_PREFIX}/lib")
    string(REPLACE "\nExecPaths=" "\nExecPaths=${ours} " text "${text}")
  endif()
  file(WRITE ${binary_dir}/${file} "${text}")
endforeach()

file(INSTALL ${binary_dir}/systemd/dynamicsd.service ${binary_dir}/systemd/dynamics-rosbridge.service
             ${binary_dir}/systemd/dynamicsd@.service ${binary_dir}/systemd/dynamics-compile.socket
             ${binary_dir}/systemd/dynamics-compile@.service
     DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/systemd/system)
file(INSTALL ${binary_dir}/dynamicsd.conf ${binary_dir}/rosbridge.conf
     DESTINATION ${CMAKE_INSTALL_PREFIX}/${docdir}/examples)
foreach(file dynamicsd.conf rosbridge.conf)
  if(NOT EXISTS $ENV{DESTDIR}${sysconfdir}/dynamicsd/${file})
    file(INSTALL ${binary_dir}/${file} DESTINATION ${sysconfdir}/dynamicsd)
  endif()
endforeach()

# The directory of the administrator's own robots.
file(INSTALL DESTINATION ${sysconfdir}/dynamicsd/robots TYPE DIRECTORY FILES "")
