/* SPDX-License-Identifier: BSD-2-Clause */
#include "nats_echo.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nats/nats.h>

/* Attempts to reach a server, and the pause between two of them, us; bytes of the largest request of the echo; ms until
 * a call is given up. */
enum { ATTEMPTS = 500, ATTEMPT_PAUSE = 20000, LARGEST_REQUEST = 65536, PATIENCE = 10000 };

static const char subject[] = "echo";

struct nats_caller {
    natsConnection *connection;
};

static void require(natsStatus status) {
    if (status != NATS_OK) {
        die("NATS: %s", natsStatus_GetText(status));
    }
}

/* ---- server ------------------------------------------------------------------------------------------------------ */

/* Reads the port that the server has written to nats-server_PID.ports, or 0 if it has not yet. */
static int read_port(const bench_nats *n) {
    char path[128], text[512] = "";
    snprintf(path, sizeof path, "%s/nats-server_%d.ports", n->directory, (int)n->process.process);
    FILE *file = fopen(path, "r");
    if (file) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    const char *address = strstr(text, "nats://127.0.0.1:");
    return address ? atoi(address + strlen("nats://127.0.0.1:")) : 0;
}

bool nats_start(bench_nats *n) {
    const char *program = access("/usr/sbin/nats-server", X_OK) == 0 ? "/usr/sbin/nats-server" : "/usr/bin/nats-server";
    char configuration[96], log[96];
    *n = (bench_nats){0};
    if (access(program, X_OK) != 0) {
        return false;
    }
    make_directory(n->directory);
    snprintf(configuration, sizeof configuration, "%s/nats.conf", n->directory);
    snprintf(log, sizeof log, "%s/log", n->directory);
    FILE *file = fopen(configuration, "w");
    if (!file) {
        die("cannot write %s", configuration);
    }
    fprintf(file, "host: 127.0.0.1\nport: -1\nports_file_dir: \"%s\"\n", n->directory);
    fclose(file);
    const char *const arguments[] = {program, "-c", configuration, NULL};
    n->process = child_start(arguments, log);
    int port = 0;
    for (int i = 0; i < ATTEMPTS && port == 0; i++) {
        usleep(ATTEMPT_PAUSE);
        port = read_port(n);
    }
    if (port == 0) {
        show_file(log);
        die("nats-server does not start");
    }
    snprintf(n->url, sizeof n->url, "nats://127.0.0.1:%d", port);
    return true;
}

void nats_stop(bench_nats *n) {
    child_stop(&n->process);
    remove_directory(n->directory);
}

/* ---- echo -------------------------------------------------------------------------------------------------------- */

/* Connects, and tries again until the server listens. */
static natsConnection *connect_patiently(const char *url) {
    natsOptions *options = NULL;
    natsConnection *connection = NULL;
    require(natsOptions_Create(&options));
    require(natsOptions_SetURL(options, url));
    require(natsOptions_SetSendAsap(options, true));
    natsStatus status = natsConnection_Connect(&connection, options);
    for (int i = 0; i < ATTEMPTS && status != NATS_OK; i++) {
        usleep(ATTEMPT_PAUSE);
        status = natsConnection_Connect(&connection, options);
    }
    natsOptions_Destroy(options);
    require(status);
    return connection;
}

/* Reply of the echo. */
typedef struct echo_reply {
    char *bytes;
    size_t size;
} echo_reply;

static void answer(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *context) {
    const echo_reply *reply = context;
    (void)subscription;
    require(natsConnection_Publish(connection, natsMsg_GetReply(message), reply->bytes, (int)reply->size));
    natsMsg_Destroy(message);
}

_Noreturn void serve_nats_echo(const char *url, size_t reply_size) {
    echo_reply reply = {calloc(1, reply_size + 1), reply_size};
    natsSubscription *subscription;
    if (!reply.bytes) {
        die("out of memory");
    }
    require(natsConnection_Subscribe(&subscription, connect_patiently(url), subject, answer, &reply));
    for (;;) {
        pause();
    }
}

child nats_echo_start(const char *url, size_t reply_size) {
    char self[PATH_MAX], size[32];
    snprintf(size, sizeof size, "%zu", reply_size);
    own_path(self, sizeof self);
    const char *const arguments[] = {self, "--serve-nats-echo", url, size, NULL};
    return child_start(arguments, NULL);
}

nats_caller *nats_caller_connect(const char *url) {
    nats_caller *c = calloc(1, sizeof *c);
    if (!c) {
        die("out of memory");
    }
    c->connection = connect_patiently(url);
    natsStatus status = NATS_NO_RESPONDERS;
    for (int i = 0; i < ATTEMPTS && status != NATS_OK; i++) {
        natsMsg *reply;
        status = natsConnection_Request(&reply, c->connection, subject, "", 0, PATIENCE);
        if (status == NATS_OK) {
            natsMsg_Destroy(reply);
        } else {
            usleep(ATTEMPT_PAUSE);
        }
    }
    require(status);
    return c;
}

void nats_caller_close(nats_caller *c) {
    natsConnection_Destroy(c->connection);
    free(c);
}

void nats_caller_call(nats_caller *c, size_t size) {
    static const char bytes[LARGEST_REQUEST];
    natsMsg *reply;
    require(natsConnection_Request(&reply, c->connection, subject, bytes, (int)size, PATIENCE));
    natsMsg_Destroy(reply);
}
