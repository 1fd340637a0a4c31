/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much memory this process may use.
 */
#ifndef SERVER_SYSTEM_MEMORY_H
#define SERVER_SYSTEM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes: the least of the machine's memory and the limits of the control groups (version 1 and 2) that the process is
 * in, and of its own resource limits. */
size_t system_memory_bytes(void);

/* With `returns`, malloc returns freed blocks of a mebibyte and more to the system at once. Otherwise it keeps them for
 * the next requests, as it does by itself after the first ones. Any thread. */
void system_memory_return_blocks(bool returns);

#endif
