/*
 * How much memory this process may use.
 */
#ifndef SERVER_SYSTEM_MEMORY_H
#define SERVER_SYSTEM_MEMORY_H

#include <stddef.h>

/* Bytes: the least of the machine's memory and the limits of the control groups (version 1 and 2) that the process is
 * in, and of its own resource limits. */
size_t system_memory_bytes(void);

#endif
