/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks who may use fast channels: the role by the token, the user or the group, and what a reload that revokes a
 * token or lowers a role does to channels that are open.
 */
#include <check.h>
#include <dynamics_client.h>
#include <grp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "system/daemon_fixture.h"
#include "system/raw_channel.h"
#include "system/runner.h"
#include "system/token_file.h"

/* User and group that are neither root nor those of this test. */
enum { STRANGER = 61042, CREW = 61043 };

/* Time for an answer, s. */
static const double ANSWER_TIME = 20;

#define VIEWER "view-4d2a"
#define PLANNER "plan-77c1"

static const token_line all[] = {{"viewer", "reader", VIEWER}, {"planner", "user", PLANNER}};

static daemon_fixture served;
static char tokens[] = "/tmp/dynamicsd-tokens-XXXXXX";

/* Writes the section [access] with the file of tokens and `rules`. */
static void write_section(const char *rules, char section[256]) {
    snprintf(section, 256, "[access]\ntokens = %s\n%s\n", tokens, rules);
}

static void start(void) {
    char section[256];
    int file = mkstemp(tokens);
    ck_assert_int_ge(file, 0);
    close(file);
    token_file_write(tokens, all, 2);
    write_section("", section);
    daemon_start(&(daemon_options){.configuration = section}, &served);
}

static void stop(void) {
    daemon_stop(&served);
    unlink(tokens);
}

static void reload(void) {
    daemon_signal(&served, SIGHUP);
    daemon_wait_for_notice(&served, "READY=1", 20);
}

/* Replaces the rules of the section [access]. */
static void set_rules(const char *rules) {
    char section[256];
    write_section(rules, section);
    daemon_configure(&served, section);
    reload();
}

static dyn_client *connect_with(const char *token) {
    dyn_client *client;
    dyn_client_error error;
    const dyn_client_options options = DYN_CLIENT_OPTIONS_INIT(.token = token);
    ck_assert_msg(dyn_client_connect(served.request_ipc, &options, &client, &error) == DYN_CLIENT_OK, "%s",
                  error.message);
    return client;
}

static dyn_client_status open_channel(dyn_client *client, dyn_client_error *error) {
    return dyn_client_open_fast_channel(client, "ur5", 0, NULL, 0, error);
}

static dyn_client_status ask(dyn_client *client, dyn_client_error *error) {
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 1);
    const double q[6] = {0, -1, 1, 0.5, 0.25, 0.125};
    double g[6];
    return dyn_client_gravity(client, &query, q, g, error);
}

/* Checks that a call is computed over an open channel. */
static void expect_call(dyn_client *client) {
    dyn_client_error error;
    ck_assert_msg(ask(client, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert(dyn_client_has_fast_channel(client, "ur5"));
}

/* Checks that a call is denied for this reason, that its channel has ended, and that it is not opened again. */
static void expect_denial(dyn_client *client, const char *reason, const char *field) {
    dyn_client_error error;
    ck_assert_int_eq(ask(client, &error), DYN_CLIENT_PERMISSION_DENIED);
    ck_assert_str_eq(error.reason, reason);
    ck_assert_str_eq(error.field, field);
    ck_assert(!dyn_client_has_fast_channel(client, "ur5"));
    ck_assert_int_eq(open_channel(client, &error), DYN_CLIENT_PERMISSION_DENIED);
    ck_assert_str_eq(error.reason, reason);
    ck_assert_str_eq(error.field, field);
}

START_TEST(a_revoked_token_ends_its_channel) {
    dyn_client_error error;
    dyn_client *viewer = connect_with(VIEWER), *planner = connect_with(PLANNER);
    ck_assert_int_eq(open_channel(viewer, &error), DYN_CLIENT_OK);
    ck_assert_int_eq(open_channel(planner, &error), DYN_CLIENT_OK);
    expect_call(viewer);
    expect_call(planner);
    token_file_write(tokens, all, 1);
    reload();
    expect_call(viewer);
    expect_denial(planner, "UNKNOWN_TOKEN", "token");
    token_file_write(tokens, all, 2);
    reload();
    expect_call(viewer);
    ck_assert_int_eq(open_channel(planner, &error), DYN_CLIENT_OK);
    expect_call(planner);
    dyn_client_close(viewer);
    dyn_client_close(planner);
}
END_TEST

START_TEST(an_unknown_token_opens_no_channel) {
    dyn_client_error error;
    dyn_client *client = connect_with("view-4d2b");
    ck_assert_int_eq(open_channel(client, &error), DYN_CLIENT_PERMISSION_DENIED);
    ck_assert_str_eq(error.reason, "UNKNOWN_TOKEN");
    dyn_client_close(client);
}
END_TEST

/* ---- users and groups -------------------------------------------------------------------------------------------- */

/* Lets every user of the machine reach the daemon's sockets. */
static void open_sockets(void) {
    static const char scheme[] = "ipc://";
    const char *path = served.request_ipc + strlen(scheme);
    char fast[sizeof served.request_ipc + sizeof ".fast"];
    ck_assert_int_gt(snprintf(fast, sizeof fast, "%.*s.fast", (int)sizeof served.request_ipc, path), 0);
    ck_assert_int_eq(chmod(served.directory, 0711), 0);
    ck_assert_int_eq(chmod(path, 0666), 0);
    ck_assert_int_eq(chmod(fast, 0666), 0);
}

/* Waits as a child for the parent's next reload. */
static void wait_for_parent(void) {
    raise(SIGSTOP);
}

/* Lets the child go on after its wait, and waits for its next one or its end. Returns its exit code, or -1. */
static int wait_for_child(pid_t child, bool is_waiting) {
    int status;
    if (is_waiting) {
        kill(child, SIGCONT);
    }
    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    return WIFSTOPPED(status) ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Becomes the stranger, in the group of the crew. */
static bool become_stranger(void) {
    return setgroups(0, NULL) == 0 && setgid(CREW) == 0 && setuid(STRANGER) == 0;
}

/* Opens a channel and makes a call. Returns whether both succeed. */
static bool can_call(raw_channel *channel) {
    if (!raw_channel_open(served.request_ipc, "ur5", channel)) {
        return false;
    }
    raw_channel_ask(channel);
    return raw_channel_is_answered(channel, ANSWER_TIME) && !atomic_load(&channel->memory->is_closed);
}

/* Returns whether the next call has no answer, but ends the channel. */
static bool is_ended_by_call(raw_channel *channel) {
    const struct timespec pause = {.tv_nsec = 5000000};
    raw_channel_ask(channel);
    for (double waited = 0; !atomic_load(&channel->memory->is_closed) && waited < ANSWER_TIME; waited += 5e-3) {
        nanosleep(&pause, NULL);
    }
    return atomic_load(&channel->memory->is_closed) && !raw_channel_is_answered(channel, 0.01);
}

/* Has a role at first, has none after the first wait, and the role again after the second. Returns the number of the
 * check that failed, 0: none. */
static int act_with_changing_role(void) {
    raw_channel channel;
    if (!become_stranger()) {
        return 1;
    }
    if (!can_call(&channel)) {
        return 2;
    }
    wait_for_parent();
    if (!is_ended_by_call(&channel)) {
        return 3;
    }
    raw_channel_close(&channel);
    if (raw_channel_open(served.request_ipc, "ur5", &channel) || channel.code != DYN_CLIENT_PERMISSION_DENIED ||
        !strstr(channel.message, "needs the role reader, and uid:61042 has no role")) {
        return 4;
    }
    wait_for_parent();
    if (!can_call(&channel)) {
        return 5;
    }
    raw_channel_close(&channel);
    return 0;
}

/* Checks a channel of the stranger whose role these rules state. */
static void check_role(const char *with_role, const char *without) {
    set_rules(with_role);
    open_sockets();
    pid_t child = fork();
    if (child == 0) {
        _exit(act_with_changing_role());
    }
    ck_assert_int_eq(wait_for_child(child, false), -1);
    set_rules(without);
    ck_assert_int_eq(wait_for_child(child, true), -1);
    set_rules(with_role);
    ck_assert_int_eq(wait_for_child(child, true), 0);
}

START_TEST(the_role_of_a_user_holds_for_open_channels) {
    check_role("unix = none\nreaders = 61042", "unix = none\nreaders = 61044");
}
END_TEST

START_TEST(the_role_of_a_group_holds_for_open_channels) {
    check_role("unix = none\nreaders = @61043", "unix = none");
}
END_TEST

START_TEST(the_role_of_all_users_holds_for_open_channels) {
    check_role("unix = reader", "unix = none");
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("fast_access");
    tcase_set_timeout(tests, 120);
    tcase_add_unchecked_fixture(tests, start, stop);
    if (geteuid() == 0) { /* changing the user needs root */
        tcase_add_test(tests, the_role_of_a_user_holds_for_open_channels);
        tcase_add_test(tests, the_role_of_a_group_holds_for_open_channels);
        tcase_add_test(tests, the_role_of_all_users_holds_for_open_channels);
    }
    tcase_add_test(tests, a_revoked_token_ends_its_channel);
    tcase_add_test(tests, an_unknown_token_opens_no_channel);
    return run_unforked("fast_access", tests);
}
