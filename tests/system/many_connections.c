/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens ten thousand connections to a daemon: each gets the right answer, the daemon stays within a bound of memory for
 * each, and has its descriptors back when they are closed.
 *
 *   system_many_connections [COUNT]
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "system/daemon_fixture.h"
#include "system/runner.h"
#include "system/sp_request.h"
#include "system/sp_wire.h"

/* Descriptors of the daemon besides those of connections. It is allowed half as many connections again as there are,
 * since it closes those that have not greeted once it uses three quarters of its descriptors. */
enum { OWN_DESCRIPTORS = 512 };

/* Bound of the daemon's memory for one connection. */
enum { CONNECTION_BYTES = 24 << 10 };

static size_t count = 10000;
static daemon_fixture served;

/* Raises the number of descriptors that this process may open. Returns false where that is not permitted. */
static bool allow_descriptors(size_t wanted) {
    struct rlimit limit = {.rlim_cur = wanted, .rlim_max = wanted};
    struct rlimit present;
    getrlimit(RLIMIT_NOFILE, &present);
    return present.rlim_cur >= wanted || setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

START_TEST(ten_thousand_connections_are_served_and_given_back) {
    const size_t allowed = count + count / 2;
    char configuration[256];
    sp_peer *peers = calloc(count, sizeof *peers);
    snprintf(configuration, sizeof configuration, "[limits]\nconnections = %zu\npeer_connections = %zu\n", allowed,
             allowed);
    daemon_start(&(daemon_options){.configuration = configuration, .descriptors = allowed + OWN_DESCRIPTORS}, &served);
    size_t descriptors = daemon_open_descriptors(&served), memory = daemon_resident_bytes(&served);
    double begin = sp_now();
    for (size_t i = 0; i < count; i++) {
        peers[i] = sp_open(served.request_ipc, SP_REQ);
    }
    double opened = sp_now();
    for (size_t i = 0; i < count; i++) {
        sp_expect_right_answer(&peers[i]);
    }
    double answered = sp_now();
    size_t grown = daemon_resident_bytes(&served) - memory;
    printf("%zu connections: opened in %.1f s, one answer each in %.1f s, %zu bytes of memory each\n", count,
           opened - begin, answered - opened, grown / count);
    ck_assert_uint_ge(daemon_open_descriptors(&served), count);
    ck_assert_uint_le(grown / count, CONNECTION_BYTES);
    for (size_t i = 0; i < count; i++) {
        sp_close(&peers[i]);
    }
    daemon_expect_descriptors(&served, descriptors + 8, 30);
    sp_peer last = sp_open(served.request_ipc, SP_REQ);
    sp_expect_right_answer(&last);
    sp_close(&last);
    daemon_stop(&served);
    free(peers);
}
END_TEST

int main(int argc, char **argv) {
    if (argc > 1) {
        count = strtoul(argv[1], NULL, 10);
    }
    if (!allow_descriptors(count + count / 2 + 2 * OWN_DESCRIPTORS)) {
        printf("skipped: this user may not open %zu descriptors\n", count + count / 2 + 2 * OWN_DESCRIPTORS);
        return 77;
    }
    Suite *suite = suite_create("many connections");
    TCase *tests = tcase_create("daemon");
    tcase_set_timeout(tests, 240);
    tcase_add_test(tests, ten_thousand_connections_are_served_and_given_back);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
