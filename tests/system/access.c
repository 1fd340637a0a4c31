/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks who may do what: tokens give names and roles to requests, denied requests name the role that they need, and a
 * user of this machine without a role gets neither replies nor events over tcp.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dynamics/v1/event.pb-c.h"
#include "system/daemon_fixture.h"
#include "system/sp_request.h"
#include "system/unforked.h"

#define CODE(name) DYNAMICS__V1__CODE__CODE_##name
#define METHOD(name) DYNAMICS__V1__REQUEST__METHOD_##name
#define ROLE(name) DYNAMICS__V1__METHOD_ROLE__METHOD_ROLE_##name

/* Tokens with their SHA-256, as `printf %s TOKEN | sha256sum` prints it. */
#define VIEWER "view-4d2a"
#define PLANNER "plan-77c1"
#define CHIEF "chief-90ee"

/* Number of a user that is neither root nor that of this test. */
enum { STRANGER = 61042 };

/* Time in which an event would have arrived, in seconds. */
#define EVENT_TIME 1.0

static daemon_fixture served;
static char tokens[] = "/tmp/dynamicsd-tokens-XXXXXX";
static sp_peer peer;

/* Writes the lines of tokens, with hashes that sha256sum computes. */
static void write_tokens(const char *names_roles_secrets[][3], size_t count) {
    char command[512];
    FILE *file = fopen(tokens, "w");
    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < count; i++) {
        char hash[65] = "";
        snprintf(command, sizeof command, "printf %%s %s | sha256sum", names_roles_secrets[i][2]);
        FILE *sum = popen(command, "r");
        ck_assert_ptr_nonnull(sum);
        ck_assert_int_eq(fscanf(sum, "%64s", hash), 1);
        pclose(sum);
        fprintf(file, "%s %s %s\n", names_roles_secrets[i][0], names_roles_secrets[i][1], hash);
    }
    fclose(file);
}

static const char *all[][3] = {
    {"viewer", "reader", VIEWER}, {"planner", "user", PLANNER}, {"chief", "administrator", CHIEF}};

static void start(void) {
    char sections[128];
    int file = mkstemp(tokens);
    ck_assert_int_ge(file, 0);
    close(file);
    write_tokens(all, 3);
    snprintf(sections, sizeof sections, "[access]\ntokens = %s\n", tokens);
    daemon_start(&(daemon_options){.configuration = sections}, &served);
}

static void stop(void) {
    daemon_stop(&served);
    unlink(tokens);
}

static void open_peer(void) {
    peer = sp_open(served.request_tcp, SP_REQ);
}

static void close_peer(void) {
    sp_close(&peer);
}

/* Sends a request with a token; `requested` is the message of the method. */
static Dynamics__V1__Reply *exchange(const char *token, Dynamics__V1__Request__MethodCase method, void *requested) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    request.token = (char *)(uintptr_t)token;
    request.method_case = method;
    request.get_health = requested;
    return sp_call(&peer, &request);
}

static Dynamics__V1__Reply *get_info(const char *token) {
    Dynamics__V1__GetServerInfoRequest question = DYNAMICS__V1__GET_SERVER_INFO_REQUEST__INIT;
    return exchange(token, METHOD(GET_SERVER_INFO), &question);
}

static Dynamics__V1__Reply *set_log_level(const char *token) {
    Dynamics__V1__SetLogLevelRequest question = DYNAMICS__V1__SET_LOG_LEVEL_REQUEST__INIT;
    return exchange(token, METHOD(SET_LOG_LEVEL), &question);
}

static Dynamics__V1__Reply *unload(const char *token) {
    static char name[] = "no_such_robot";
    Dynamics__V1__UnloadModelRequest question = DYNAMICS__V1__UNLOAD_MODEL_REQUEST__INIT;
    question.model = name;
    return exchange(token, METHOD(UNLOAD_MODEL), &question);
}

/* Checks that the daemon knows the caller with that token by this name and role. */
static void expect_caller(const char *token, const char *name, Dynamics__V1__MethodRole role) {
    Dynamics__V1__Reply *reply = get_info(token);
    sp_expect_ok(reply);
    ck_assert_str_eq(reply->get_server_info->caller, name);
    ck_assert_int_eq(reply->get_server_info->caller_role, role);
    sp_free_reply(reply);
}

START_TEST(a_token_states_the_caller) {
    char own[32];
    snprintf(own, sizeof own, "uid:%u", (unsigned)geteuid());
    expect_caller("", own, ROLE(ADMINISTRATOR));
    expect_caller(VIEWER, "token:viewer", ROLE(READER));
    expect_caller(PLANNER, "token:planner", ROLE(USER));
    expect_caller(CHIEF, "token:chief", ROLE(ADMINISTRATOR));
}
END_TEST

START_TEST(denied_requests_name_the_role_that_they_need) {
    sp_expect_error(unload(VIEWER), CODE(PERMISSION_DENIED), "",
                    "unload_model needs the role user, and token:viewer has reader");
    sp_expect_error(set_log_level(PLANNER), CODE(PERMISSION_DENIED), "",
                    "set_log_level needs the role administrator, and token:planner has user");
    sp_expect_error(unload(PLANNER), CODE(NOT_FOUND), "unload_model.model", "no_such_robot");
    Dynamics__V1__Reply *reply = set_log_level(CHIEF);
    sp_expect_ok(reply);
    sp_free_reply(reply);
    char *log = daemon_log(&served);
    ck_assert_ptr_nonnull(strstr(log, "caller=token:planner outcome=denied code=PERMISSION_DENIED"));
    free(log);
}
END_TEST

START_TEST(an_unknown_token_is_denied_even_to_the_own_user) {
    char longest[300];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    sp_expect_error(get_info("view-4d2b"), CODE(PERMISSION_DENIED), "token", "no such token");
    sp_expect_error(get_info(longest), CODE(PERMISSION_DENIED), "token", "no such token");
}
END_TEST

static void reload(void) {
    daemon_signal(&served, SIGHUP);
    daemon_wait_for_notice(&served, "READY=1", 20);
}

START_TEST(a_reload_revokes_tokens_on_open_connections) {
    const char *fewer[][3] = {{"viewer", "reader", VIEWER}, {"planner", "reader", PLANNER}};
    expect_caller(CHIEF, "token:chief", ROLE(ADMINISTRATOR));
    write_tokens(fewer, 2);
    reload();
    sp_expect_error(get_info(CHIEF), CODE(PERMISSION_DENIED), "token", "no such token");
    expect_caller(PLANNER, "token:planner", ROLE(READER));
    FILE *file = fopen(tokens, "w");
    fputs("viewer reader 00\n", file);
    fclose(file);
    reload();
    expect_caller(VIEWER, "token:viewer", ROLE(READER));
    write_tokens(all, 3);
    reload();
    expect_caller(CHIEF, "token:chief", ROLE(ADMINISTRATOR));
}
END_TEST

/* Runs as a user without a role: it has no reply over tcp, is a user over the unix socket if its permissions let it in,
 * and with a token is that of the token. Returns the number of the check that failed, 0: none. */
static int act_as_stranger(void) {
    Dynamics__V1__GetHealthRequest question = DYNAMICS__V1__GET_HEALTH_REQUEST__INIT;
    if (setgid(STRANGER) != 0 || setuid(STRANGER) != 0) {
        return 1;
    }
    open_peer();
    Dynamics__V1__Reply *reply = exchange("", METHOD(GET_HEALTH), &question);
    bool is_denied = reply->status->code == CODE(PERMISSION_DENIED) &&
                     strcmp(reply->status->message,
                            "get_health needs the role reader, and uid:61042 has no role; pass a token, or let the "
                            "administrator give the role ([access] in the configuration)") == 0;
    sp_free_reply(reply);
    sp_peer before = sp_open(served.events_tcp, SP_SUB);
    bool is_refused = sp_is_closed_within(&before, EVENT_TIME);
    reply = exchange(VIEWER, METHOD(GET_HEALTH), &question);
    bool is_allowed = reply->status->code == CODE(OK);
    sp_free_reply(reply);
    sp_peer after = sp_open(served.events_tcp, SP_SUB);
    bool is_let_in = !sp_is_closed_within(&after, EVENT_TIME);
    return !is_denied ? 2 : !is_refused ? 3 : !is_allowed ? 4 : !is_let_in ? 5 : 0;
}

START_TEST(another_user_of_the_machine_needs_a_token_over_tcp) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        _exit(act_as_stranger());
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status), "the stranger ended with signal %d", WTERMSIG(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("access");
    tcase_set_timeout(tests, 60);
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_add_checked_fixture(tests, open_peer, close_peer);
    tcase_add_test(tests, a_token_states_the_caller);
    tcase_add_test(tests, denied_requests_name_the_role_that_they_need);
    tcase_add_test(tests, an_unknown_token_is_denied_even_to_the_own_user);
    tcase_add_test(tests, a_reload_revokes_tokens_on_open_connections);
    if (geteuid() == 0) { /* changing the user needs root */
        tcase_add_test(tests, another_user_of_the_machine_needs_a_token_over_tcp);
    }
    return run_unforked("access", tests);
}
