/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Test fixture: one daemon and one client of it, for all tests of a case.
 *
 *     tcase_add_unchecked_fixture(tests, start_daemon, stop_daemon);
 */
#ifndef DYNAMICS_TESTS_CLIENT_FIXTURE_H
#define DYNAMICS_TESTS_CLIENT_FIXTURE_H

#include <dynamics_client.h>

/* Client that is connected over ipc while the daemon runs, between start_daemon and stop_daemon. */
extern dyn_client *client;

void start_daemon(void);
void stop_daemon(void);

#endif
