/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sections of the benchmark, one a file. Each adds its tables to the report. A measurement that fails ends the program
 * with a message.
 */
#ifndef DYNAMICS_BENCH_SECTIONS_H
#define DYNAMICS_BENCH_SECTIONS_H

#include "options.h"
#include "report.h"

/* Measures nanoseconds per state of each algorithm on robots and chains, and the cost of a body in long chains
 * (kernels.c). */
void bench_kernels(const bench_options *options, report *r);

/* Measures nanoseconds per state of algorithms compiled for one robot, beside the generic ones and the peers
 * (compiled.c). */
void bench_compiled(const bench_options *options, report *r);

/* Measures the share of the core's peak that some algorithms reach (peak.c). */
void bench_peak(const bench_options *options, report *r);

/* Counts multiplications and additions of a state, beside published formulas (operations.c). */
void bench_operations(const bench_options *options, report *r);

/* Measures steps forward in time per second and core (rollouts.c). */
void bench_rollouts(const bench_options *options, report *r);

/* Measures steps of a standing quadruped per second and core (contacts.c). */
void bench_contacts(const bench_options *options, report *r);

/* Measures the methods of forward dynamics with constraints, and robots with 6-D contacts (constraints.c). */
void bench_constraints(const bench_options *options, report *r);

/* Measures the cost of a rotor beside that of a link (rotors.c). */
void bench_rotors(const bench_options *options, report *r);

/* Measures the dynamics of a task in operational space, and the search for base parameters (tasks.c). */
void bench_tasks(const bench_options *options, report *r);

/* Measures percentiles of the time of one InverseDynamics over ipc and tcp, beside a bare echo (round_trip.c). */
void bench_round_trip(const bench_options *options, report *r);

/* Measures states per second through the daemon and in one process (throughput.c). */
void bench_throughput(const bench_options *options, report *r);

/* Measures daemons behind a NATS server (fleet.c). */
void bench_fleet(const bench_options *options, report *r);

/* Measures InverseDynamics through the gateway to rosbridge clients (rosbridge.c). */
void bench_rosbridge(const bench_options *options, report *r);

/* Measures InverseDynamics through the Python client (python.c). */
void bench_python(const bench_options *options, report *r);

/* Measures simulations that follow the clock, and streams of points (live.c). */
void bench_live(const bench_options *options, report *r);

/* Measures the latency of a caller at 1 kHz beside batches and simulations (fairness.c). */
void bench_fairness(const bench_options *options, report *r);

/* Measures the daemon's resident memory (memory.c). */
void bench_memory(const bench_options *options, report *r);

/* Counts instructions per state by callgrind (instructions.c). */
void bench_instructions(const bench_options *options, report *r);

/* Counts instructions in the process under callgrind, which bench_instructions starts. */
void count_instructions(const bench_options *options);

#endif
