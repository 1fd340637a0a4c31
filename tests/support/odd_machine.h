/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control of the library odd_machine.so, which moves the wall clock of a program and slows its disk. The program is
 * started with the library in LD_PRELOAD and the path of a file with this struct in ODD_MACHINE; the test changes the
 * file, which both map.
 */
#ifndef DYNAMICS_TESTS_ODD_MACHINE_H
#define DYNAMICS_TESTS_ODD_MACHINE_H

#include <stdatomic.h>

typedef struct odd_machine {
    atomic_long shift;   /* added to CLOCK_REALTIME, s */
    atomic_long delay;   /* time of each write to a regular file and of each synchronization, ms */
    atomic_long delayed; /* their number so far */
} odd_machine;

#endif
