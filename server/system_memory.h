/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds how much memory this process may use, and sets when malloc returns freed memory to the system.
 */
#ifndef SERVER_SYSTEM_MEMORY_H
#define SERVER_SYSTEM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the lowest, in bytes, of the machine's memory, the limits of the process's control groups (version 1 and 2),
 * and its own resource limits. */
size_t system_memory_bytes(void);

/* Sets whether malloc returns freed blocks of a mebibyte and more to the system at once. Otherwise malloc keeps blocks
 * below 32 MiB for the next requests, as glibc does by default after the first such blocks. Any thread. */
void system_memory_return_blocks(bool returns);

#endif
