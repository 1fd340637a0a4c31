/* SPDX-License-Identifier: BSD-2-Clause */
/* Listens at a unix socket as a socket unit does. */
#include "system/compile_socket.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sockaddr_un address_of(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    ck_assert_uint_lt(strlen(path), sizeof address.sun_path);
    strcpy(address.sun_path, path);
    return address;
}

int compile_socket_connect(const char *path) {
    const struct sockaddr_un address = address_of(path);
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(connection, 0);
    ck_assert_int_eq(connect(connection, (const struct sockaddr *)&address, sizeof address), 0);
    return connection;
}

static int listen_at(const char *path) {
    const struct sockaddr_un address = address_of(path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(listener, 0);
    unlink(path); /* that of a test that has failed */
    ck_assert_int_eq(bind(listener, (const struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(listener, 8), 0);
    return listener;
}

/* Starts the program for each connection, without end. */
static void serve(int listener, char *const program[]) {
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (connection >= 0 && fork() == 0) {
            signal(SIGCHLD, SIG_DFL);
            dup2(connection, STDIN_FILENO);
            execv(program[0], program);
            _exit(127);
        }
        close(connection);
    }
}

pid_t compile_socket_start(const char *path, const char *files, char *const program[]) {
    int listener = listen_at(path);
    pid_t process = fork();
    ck_assert_int_ge(process, 0);
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setenv("TMPDIR", files, 1);
        serve(listener, program);
    }
    close(listener);
    return process;
}

void compile_socket_stop(pid_t process, const char *path) {
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
    unlink(path);
}
