/* SPDX-License-Identifier: BSD-2-Clause */
/* A small file system for the state directory of a daemon, which a test fills. */
#ifndef DYNAMICS_TESTS_STATE_DISK_H
#define DYNAMICS_TESTS_STATE_DISK_H

#include <stdbool.h>

#include "system/daemon_fixture.h"

/* Mounts a file system on the state directory, in a mount namespace of this process; `size` is the option of tmpfs,
 * such as "size=4m". Returns false where that is not permitted. */
bool state_disk_mount(const daemon_fixture *daemon, const char *size);

/* Returns whether state_disk_mount is permitted here. */
bool state_disk_can_mount(void);

/* Fills the file system with one file. */
void state_disk_fill(const daemon_fixture *daemon);

/* Removes the file of state_disk_fill, if it is there. */
void state_disk_free(const daemon_fixture *daemon);

#endif
