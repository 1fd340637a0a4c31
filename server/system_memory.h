/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that this process may use.
 */
#ifndef SERVER_SYSTEM_MEMORY_H
#define SERVER_SYSTEM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the lowest, in bytes, of the machine's memory, the limits of the process's control groups (version 1 and 2),
 * and its own resource limits. */
size_t system_memory_bytes(void);

/* Sets whether malloc returns freed blocks of a mebibyte and more to the system at once. Otherwise it keeps them for
 * the next requests, as it does by default after the first ones. Any thread. */
void system_memory_return_blocks(bool returns);

#endif
