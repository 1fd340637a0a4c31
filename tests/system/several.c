/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of several daemons without NATS: it takes turns, and goes on when daemons die, stop, start late and come
 * back. Each reply is compared with a closed form.
 */
#include <arpa/inet.h>
#include <check.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dynamics_client.h>

#include "system/daemon_fixture.h"
#include "system/load.h"
#include "system/runner.h"

enum { DAEMONS = 3, SAMPLES = 20, BATCH = 4000 };

static daemon_fixture daemons[DAEMONS];
static char list[400];

static void start(void) {
    for (int i = 0; i < DAEMONS; i++) {
        daemon_start(NULL, &daemons[i]);
    }
    snprintf(list, sizeof list, "%s,%s,%s", daemons[0].request_ipc, daemons[1].request_tcp, daemons[2].request_ipc);
}

static void stop(void) {
    for (int i = 0; i < DAEMONS; i++) {
        if (daemons[i].process > 0) {
            daemon_stop(&daemons[i]);
        }
    }
}

/* Returns the requests of inverse dynamics that a daemon has answered. */
static uint64_t answered_by(int i) {
    dyn_client *client;
    dyn_client_error error;
    dyn_client_metrics *metrics;
    uint64_t count = 0;
    ck_assert_int_eq(dyn_client_connect(daemons[i].request_ipc, NULL, &client, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(dyn_client_get_metrics(client, 0, &metrics, &error), DYN_CLIENT_OK);
    for (size_t k = 0; k < metrics->method_count; k++) {
        count += strcmp(metrics->methods[k].method, "inverse_dynamics") == 0 ? metrics->methods[k].codes[0] : 0;
    }
    dyn_client_metrics_free(metrics);
    dyn_client_close(client);
    return count;
}

START_TEST(requests_take_turns_and_batches_are_spread) {
    dyn_client *client = load_connect(list);
    dyn_client_error error;
    dyn_client_spread spread = DYN_CLIENT_SPREAD_INIT(.pieces = 0);
    uint64_t before[DAEMONS];
    for (int i = 0; i < DAEMONS; i++) {
        before[i] = answered_by(i);
    }
    for (int i = 0; i < 4 * DAEMONS; i++) {
        ck_assert_msg(load_ask(client, 1, 0, NULL, &error) == DYN_CLIENT_OK, "%s", error.message);
    }
    for (int i = 0; i < DAEMONS; i++) {
        ck_assert_uint_eq(answered_by(i), before[i] + 4);
    }
    ck_assert_msg(load_ask(client, BATCH, 0, &spread, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_uint_ge(spread.pieces, 8);
    for (int i = 0; i < DAEMONS; i++) {
        ck_assert_uint_gt(answered_by(i), before[i] + 4);
    }
    dyn_client_close(client);
}
END_TEST

START_TEST(a_killed_daemon_costs_no_answer_and_is_used_again) {
    load l;
    load_start(list, &l);
    ck_assert_int_eq(daemon_end(&daemons[0], SIGKILL), 128 + SIGKILL);
    load_pause(0.2);
    daemon_begin(&daemons[0]);
    load_end(&l, "kill -9 of one of three");
    uint64_t before = answered_by(0);
    dyn_client *client = load_connect(list);
    dyn_client_error error;
    for (int i = 0; i < 2 * DAEMONS; i++) {
        ck_assert_msg(load_ask(client, 1, 0, NULL, &error) == DYN_CLIENT_OK, "%s", error.message);
    }
    ck_assert_uint_eq(answered_by(0), before + 2);
    dyn_client_close(client);
}
END_TEST

START_TEST(a_stopped_daemon_costs_no_answer) {
    dyn_client *client;
    dyn_client_error error;
    const dyn_client_options brief = DYN_CLIENT_OPTIONS_INIT(.timeout = 2);
    ck_assert_msg(dyn_client_connect(list, &brief, &client, &error) == DYN_CLIENT_OK, "%s", error.message);
    daemon_signal(&daemons[1], SIGSTOP);
    double longest = 0;
    for (int i = 0; i < 2 * DAEMONS; i++) {
        double begin = load_now();
        ck_assert_msg(load_ask(client, 1, 0, NULL, &error) == DYN_CLIENT_OK, "%s", error.message);
        longest = fmax(longest, load_now() - begin);
    }
    daemon_signal(&daemons[1], SIGCONT);
    printf("%-32s longest %.3f s\n", "SIGSTOP of one of three", longest);
    dyn_client_close(client);
}
END_TEST

START_TEST(a_daemon_that_starts_late_is_used) {
    dyn_client_error error;
    ck_assert_int_eq(daemon_end(&daemons[2], SIGKILL), 128 + SIGKILL);
    dyn_client *client = load_connect(list);
    for (int i = 0; i < DAEMONS; i++) {
        ck_assert_msg(load_ask(client, 1, 0, NULL, &error) == DYN_CLIENT_OK, "%s", error.message);
    }
    daemon_begin(&daemons[2]);
    double end = load_now() + 10;
    while (answered_by(2) == 0) {
        ck_assert_double_le(load_now(), end);
        ck_assert_msg(load_ask(client, 1, 0, NULL, &error) == DYN_CLIENT_OK, "%s", error.message);
        load_pause(0.05);
    }
    dyn_client_close(client);
}
END_TEST

START_TEST(errors_name_the_address_and_the_daemon) {
    dyn_client *client;
    dyn_client_error error;
    ck_assert_int_eq(dyn_client_connect("ipc:///nowhere/a,ipc:///nowhere/b", NULL, &client, &error),
                     DYN_CLIENT_UNREACHABLE);
    ck_assert_msg(strstr(error.message, "ipc:///nowhere/a") != NULL, "%s", error.message);
    ck_assert_int_eq(dyn_client_connect("ipc:///nowhere/a,nats://127.0.0.1:1", NULL, &client, &error),
                     DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.message, "\"nats://127.0.0.1:1\" in a list") != NULL, "%s", error.message);
    client = load_connect(list);
    for (int i = 0; i < DAEMONS; i++) {
        ck_assert_int_eq(daemon_end(&daemons[i], SIGKILL), 128 + SIGKILL);
    }
    ck_assert_int_eq(load_ask(client, 1, 0, NULL, &error), DYN_CLIENT_UNREACHABLE);
    ck_assert_msg(strstr(error.message, "is dynamicsd running?") != NULL, "%s", error.message);
    dyn_client_close(client);
    for (int i = 0; i < DAEMONS; i++) {
        daemon_begin(&daemons[i]);
    }
}
END_TEST

/* ---- HAProxy ----------------------------------------------------------------------------------------------------- */

/* Returns a port of this machine that is free now. */
static int find_port(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(descriptor, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(getsockname(descriptor, (struct sockaddr *)&address, &size), 0);
    close(descriptor);
    return ntohs(address.sin_port);
}

/* Writes the example of a configuration with the addresses of this test: one that clients connect to, and those of two
 * daemons and of their pages. */
static void write_configuration(const char *path, int port, const int pages[2]) {
    FILE *example = fopen(HAPROXY_EXAMPLE, "r"), *file = fopen(path, "w");
    char line[256];
    ck_assert(example && file);
    while (fgets(line, sizeof line, example)) {
        bool is_one = strstr(line, "server one"), is_two = strstr(line, "server two");
        if (strstr(line, "bind 127.0.0.1:7400")) {
            fprintf(file, "    bind 127.0.0.1:%d\n", port);
        } else if (is_one || is_two) {
            const char *address = daemons[is_two].request_tcp + strlen("tcp://");
            fprintf(file, "    server d%d %s port %d\n", is_two, address, pages[is_two]);
        } else {
            fputs(line, file);
        }
    }
    fclose(example);
    ck_assert_int_eq(fclose(file), 0);
}

static pid_t start_haproxy(const char *path) {
    pid_t process = fork();
    ck_assert_int_ge(process, 0);
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("/usr/sbin/haproxy", "haproxy", "-db", "-q", "-f", path, (char *)NULL);
        _exit(127);
    }
    return process;
}

START_TEST(haproxy_passes_requests_on_when_a_daemon_dies) {
    char path[128], sections[96], url[64];
    int pages[2], port = find_port();
    for (int i = 0; i < 2; i++) {
        pages[i] = find_port();
        snprintf(sections, sizeof sections, "[observe]\nlisten = tcp://127.0.0.1:%d\n", pages[i]);
        daemon_configure(&daemons[i], sections);
        daemon_restart(&daemons[i]);
    }
    snprintf(path, sizeof path, "%s/haproxy.cfg", daemons[0].directory);
    snprintf(url, sizeof url, "tcp://127.0.0.1:%d", port);
    write_configuration(path, port, pages);
    pid_t haproxy = start_haproxy(path);
    dyn_client *client = NULL;
    dyn_client_error error;
    double end = load_now() + 10;
    while (dyn_client_connect(url, NULL, &client, &error) != DYN_CLIENT_OK) {
        ck_assert_msg(load_now() < end, "%s", error.message);
        load_pause(0.05);
    }
    ck_assert_msg(load_ask(client, SAMPLES, 0, NULL, &error) == DYN_CLIENT_OK, "%s", error.message);
    int answering = answered_by(0) > 0 ? 0 : 1;
    ck_assert_int_eq(daemon_end(&daemons[answering], SIGKILL), 128 + SIGKILL);
    double begin = load_now();
    while (load_ask(client, SAMPLES, 0, NULL, &error) != DYN_CLIENT_OK) {
        ck_assert_msg(load_now() < begin + 10, "%s", error.message);
    }
    printf("%-32s another daemon answers after %.3f s\n", "kill -9 behind HAProxy", load_now() - begin);
    ck_assert_uint_gt(answered_by(1 - answering), 0);
    dyn_client_close(client);
    kill(haproxy, SIGKILL);
    waitpid(haproxy, NULL, 0);
    daemon_begin(&daemons[answering]);
}
END_TEST

START_TEST(a_cancelled_request_ends_at_the_daemon_that_computes_it) {
    dyn_client *client = load_connect(list);
    for (uint64_t i = 1; i <= DAEMONS; i++) {
        load_cancel_rollout(client, 1, 1000000000000, 0);
        ck_assert_uint_eq(load_cancelled_rollouts(DAEMONS, daemons), i);
    }
    dyn_client_close(client);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("several");
    TCase *all = tcase_create("several");
    suite_add_tcase(suite, all);
    tcase_set_timeout(all, 120);
    tcase_add_checked_fixture(all, start, stop);
    tcase_add_test(all, requests_take_turns_and_batches_are_spread);
    tcase_add_test(all, a_killed_daemon_costs_no_answer_and_is_used_again);
    tcase_add_test(all, a_stopped_daemon_costs_no_answer);
    tcase_add_test(all, a_daemon_that_starts_late_is_used);
    tcase_add_test(all, a_cancelled_request_ends_at_the_daemon_that_computes_it);
    tcase_add_test(all, errors_name_the_address_and_the_daemon);
    tcase_add_test(all, haproxy_passes_requests_on_when_a_daemon_dies);
    return run_suite(suite);
}
