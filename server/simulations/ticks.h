/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ticks of simulations that follow the clock, for the pacer. Simulations of one cohort that are due together step
 * together in lanes, with the same bits as alone.
 */
#ifndef SERVER_SIMULATIONS_TICKS_H
#define SERVER_SIMULATIONS_TICKS_H

#include "simulations/pacer.h"

/* Runs the ticks of simulations, whose first member is the task (pacer_run). Locks the mutexes of a cohort in the order
 * of their addresses. */
void ticks_run(pacer_task *const tasks[], size_t count, pacer_memory *memory, uint64_t next[]);

#endif
