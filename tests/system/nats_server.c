/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts and stops a real nats-server for a test. */
#include "system/nats_server.h"

#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Attempts to connect, and the pause between two of them, ns: 20 s in all. */
enum { ATTEMPTS = 1000, PAUSE = 20000000 };

static bool accepts(int port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_connected = connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0;
    close(descriptor);
    return is_connected;
}

/* Writes the configuration. With the port 0 the system chooses one, which the server writes to a file. A message may
 * have 32 MiB, more than the largest reply of the tests. */
static void configure(const nats_server *server, char path[96]) {
    snprintf(path, 96, "%s/nats.conf", server->directory);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "host: 127.0.0.1\nport: %d\nports_file_dir: \"%s\"\n", server->port > 0 ? server->port : -1,
            server->directory);
    fprintf(file, "max_payload: 32MB\n%s\n", server->configuration);
    ck_assert_int_eq(fclose(file), 0);
}

/* Reads the port that the server has written to nats-server_PID.ports, or 0 if it has not yet. */
static int read_port(const nats_server *server) {
    char path[128], text[512] = "";
    snprintf(path, sizeof path, "%s/nats-server_%d.ports", server->directory, (int)server->process);
    FILE *file = fopen(path, "r");
    if (file) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    const char *address = strstr(text, "://127.0.0.1:");
    return address ? atoi(address + strlen("://127.0.0.1:")) : 0;
}

/* Waits until the server has its port and accepts connections. */
static void wait_until_ready(nats_server *server) {
    for (int i = 0; i < ATTEMPTS && (server->port == 0 || !accepts(server->port)); i++) {
        server->port = server->port == 0 ? read_port(server) : server->port;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
    }
    ck_assert_msg(server->port > 0 && accepts(server->port), "nats-server does not start: %s/log", server->directory);
}

static void start_process(nats_server *server) {
    char configuration[96], log_path[96];
    configure(server, configuration);
    snprintf(log_path, sizeof log_path, "%s/log", server->directory);
    server->process = fork();
    ck_assert_int_ge(server->process, 0);
    if (server->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
        execlp("nats-server", "nats-server", "-c", configuration, (char *)NULL);
        execl("/usr/sbin/nats-server", "nats-server", "-c", configuration, (char *)NULL);
        _exit(127);
    }
    wait_until_ready(server);
}

/* Creates the directory of the server. */
static void create_directory(nats_server *server) {
    snprintf(server->directory, sizeof server->directory, "/tmp/dynamicsd-nats-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(server->directory));
}

/* Starts the server at a port that the system chooses. */
static void begin(nats_server *server) {
    server->port = 0;
    start_process(server);
    snprintf(server->url, sizeof server->url, "nats://127.0.0.1:%d", server->port);
}

void nats_server_start(nats_server *server) {
    create_directory(server);
    snprintf(server->configuration, sizeof server->configuration, "jetstream { store_dir: \"%s/js\" }",
             server->directory);
    begin(server);
}

void nats_server_start_with(nats_server *server, const char *configuration) {
    create_directory(server);
    ck_assert_uint_lt(strlen(configuration), sizeof server->configuration);
    strcpy(server->configuration, configuration);
    begin(server);
}

void nats_server_restart(nats_server *server) {
    kill(server->process, SIGKILL);
    waitpid(server->process, NULL, 0);
    start_process(server);
}

void nats_server_stop(nats_server *server) {
    char command[128];
    kill(server->process, SIGKILL);
    waitpid(server->process, NULL, 0);
    snprintf(command, sizeof command, "rm -rf '%s'", server->directory);
    ck_assert_int_eq(system(command), 0);
}
