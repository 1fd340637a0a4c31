/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the benchmark measures, a section a file. Each adds its tables to the report; what cannot be done ends the
 * program with a message.
 */
#ifndef DYNAMICS_BENCH_SECTIONS_H
#define DYNAMICS_BENCH_SECTIONS_H

#include "options.h"
#include "report.h"

/* kernels.c: nanoseconds per state of each algorithm on robots and chains, and what a body costs in long chains. */
void bench_kernels(const bench_options *options, report *r);

/* compiled.c: the same of algorithms that were compiled for one robot, beside the generic ones and the peers. */
void bench_compiled(const bench_options *options, report *r);

/* peak.c: the share of the core's peak that some algorithms reach. */
void bench_peak(const bench_options *options, report *r);

/* operations.c: multiplications and additions of a state, beside published formulas. */
void bench_operations(const bench_options *options, report *r);

/* rollouts.c: steps forward in time per second and core. */
void bench_rollouts(const bench_options *options, report *r);

/* tasks.c: the dynamics of a task in operational space, and the search for base parameters. */
void bench_tasks(const bench_options *options, report *r);

/* round_trip.c: percentiles of one InverseDynamics over ipc and tcp, beside a bare echo. */
void bench_round_trip(const bench_options *options, report *r);

/* throughput.c: states per second through the daemon and in one process. */
void bench_throughput(const bench_options *options, report *r);

/* rosbridge.c: the same through the gateway to rosbridge clients. */
void bench_rosbridge(const bench_options *options, report *r);

/* live.c: simulations that follow the clock, and streams of points. */
void bench_live(const bench_options *options, report *r);

/* memory.c: resident memory of the daemon. */
void bench_memory(const bench_options *options, report *r);

/* instructions.c: instructions per state, counted by callgrind. */
void bench_instructions(const bench_options *options, report *r);

/* The part of it that runs in the counting process. */
void count_instructions(const bench_options *options);

#endif
