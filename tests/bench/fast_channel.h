/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures calls over fast channels, for the section of round trips.
 */
#ifndef DYNAMICS_BENCH_FAST_CHANNEL_H
#define DYNAMICS_BENCH_FAST_CHANNEL_H

#include "daemon.h"
#include "options.h"
#include "report.h"

/* Adds the percentiles of one InverseDynamics over a fast channel, beside a bare exchange of as many bytes by futex and
 * the compiled function in this process; and those of a client at 1 kHz, with the processor time of the daemon. */
void bench_fast_channel(const bench_options *options, const bench_daemon *daemon, report *r);

#endif
