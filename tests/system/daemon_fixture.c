/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts, observes and stops a real dynamicsd for a test. */
#include "system/daemon_fixture.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dynamics_client.h"

static const double START_SECONDS = 20;

enum { NOTICE_SIZE = 1024, NOTICES_SIZE = 32768 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    if (!file || getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = strdup("");
    }
    if (file) {
        fclose(file);
    }
    return text;
}

char *daemon_log(const daemon_fixture *daemon) {
    return read_file(daemon->log_file);
}

/* Socket in place of the service manager's. A thread reads it, because otherwise the daemon would block. */
struct notices {
    int socket;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the text */
    size_t length;
    char text[NOTICES_SIZE]; /* notices that no test has waited for yet */
};

static void *collect_notices(void *argument) {
    struct notices *n = argument;
    char notice[NOTICE_SIZE];
    ssize_t length;
    while ((length = recv(n->socket, notice, sizeof notice, 0)) > 0) {
        pthread_mutex_lock(&n->mutex);
        if (n->length + (size_t)length >= sizeof n->text) {
            n->length = 0;
        }
        memcpy(n->text + n->length, notice, (size_t)length);
        n->length += (size_t)length;
        n->text[n->length] = '\0';
        pthread_mutex_unlock(&n->mutex);
    }
    return NULL;
}

/* Returns whether a text has arrived; if so, removes it and the texts before it. */
static bool find_notice(struct notices *n, const char *text) {
    pthread_mutex_lock(&n->mutex);
    char *found = strstr(n->text, text);
    if (found) {
        size_t end = (size_t)(found - n->text) + strlen(text);
        memmove(n->text, n->text + end, n->length - end + 1);
        n->length -= end;
    }
    pthread_mutex_unlock(&n->mutex);
    return found != NULL;
}

static void open_notices(daemon_fixture *daemon) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct notices *n = calloc(1, sizeof *n);
    ck_assert_ptr_nonnull(n);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/notices", daemon->directory);
    n->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(n->socket, 0);
    ck_assert_int_eq(bind(n->socket, (struct sockaddr *)&address, sizeof address), 0);
    pthread_mutex_init(&n->mutex, NULL);
    ck_assert_int_eq(pthread_create(&n->thread, NULL, collect_notices, n), 0);
    daemon->notices = n;
}

static void close_notices(daemon_fixture *daemon) {
    struct notices *n = daemon->notices;
    shutdown(n->socket, SHUT_RD);
    pthread_join(n->thread, NULL);
    close(n->socket);
    pthread_mutex_destroy(&n->mutex);
    free(n);
    daemon->notices = NULL;
}

void daemon_configure(const daemon_fixture *daemon, const char *sections) {
    FILE *file = fopen(daemon->configuration_file, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "[endpoints]\nrequest = ipc://%s/request tcp://127.0.0.1:0 %s\nevents = %s tcp://127.0.0.1:0\n",
            daemon->directory, daemon->nats, daemon->events_ipc);
    if (daemon->has_server) {
        fprintf(file, "[nats]\nreplica = fixture\n[access]\nnats = administrator\n");
    }
    fprintf(file, "[simulations]\nstate_directory = %s/state\n", daemon->directory);
    fprintf(file, "[models]\ndirectory = %s\n%s\n", daemon->models, sections ? sections : "");
    ck_assert_int_eq(fclose(file), 0);
}

/* Turns the new process into the daemon, which is killed when the test ends. Exits with 127 where it cannot be
 * executed. */
static void become_daemon(const daemon_fixture *daemon, size_t descriptors) {
    char notices[128];
    snprintf(notices, sizeof notices, "%s/notices", daemon->directory);
    setenv("NOTIFY_SOCKET", notices, 1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (descriptors > 0) {
        struct rlimit limit = {.rlim_cur = descriptors, .rlim_max = descriptors};
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    int log = open(daemon->log_file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close(log);
    execl(DYNAMICSD_PROGRAM, "dynamicsd", "--config", daemon->configuration_file, (char *)NULL);
    perror(DYNAMICSD_PROGRAM);
    _exit(127);
}

/* Asks the daemon for its addresses with the ports that the system chose. */
static void learn_addresses(daemon_fixture *daemon) {
    dyn_client *client;
    dyn_client_error error;
    dyn_client_server_info *info;
    ck_assert_msg(dyn_client_connect(daemon->request_ipc, NULL, &client, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_msg(dyn_client_get_server_info(client, 0, &info, &error) == DYN_CLIENT_OK, "%s", error.message);
    for (size_t i = 0; i < info->endpoint_count; i++) {
        const dyn_client_endpoint *endpoint = &info->endpoints[i];
        if (strncmp(endpoint->address, "tcp://", 6) == 0) {
            bool is_request = strcmp(endpoint->kind, "request") == 0, is_events = strcmp(endpoint->kind, "events") == 0;
            char *address = is_request ? daemon->request_tcp : is_events ? daemon->events_tcp : daemon->ingest_tcp;
            snprintf(address, sizeof daemon->events_tcp, "%s", endpoint->address);
        }
    }
    dyn_client_server_info_free(info);
    dyn_client_close(client);
    ck_assert_str_ne(daemon->request_tcp, "");
    ck_assert_str_ne(daemon->events_tcp, "");
}

/* Starts the daemon's process and waits until it is ready. */
static void start_process(daemon_fixture *daemon, size_t descriptors) {
    daemon->process = fork();
    ck_assert_int_ge(daemon->process, 0);
    if (daemon->process == 0) {
        become_daemon(daemon, descriptors);
    }
    daemon_wait_for_notice(daemon, "READY=1", START_SECONDS);
}

/* Starts a NATS server for the daemon if the environment asks for one, or notes that of the options. */
static void use_nats(daemon_fixture *daemon, const daemon_options *options) {
    const char *carrier = getenv("DYNAMICS_TEST_CARRIER");
    if (options->nats) {
        snprintf(daemon->nats, sizeof daemon->nats, "%s", options->nats);
    } else if (carrier && strcmp(carrier, "nats") == 0) {
        nats_server_start(&daemon->server);
        daemon->has_server = true;
        snprintf(daemon->nats, sizeof daemon->nats, "%s", daemon->server.url);
        snprintf(daemon->request_ipc, sizeof daemon->request_ipc, "%s", daemon->server.url);
    }
}

void daemon_start(const daemon_options *options, daemon_fixture *daemon) {
    static const daemon_options usual = {0};
    options = options ? options : &usual;
    memset(daemon, 0, sizeof *daemon);
    snprintf(daemon->directory, sizeof daemon->directory, "/tmp/dynamicsd-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(daemon->directory));
    snprintf(daemon->configuration_file, sizeof daemon->configuration_file, "%s/dynamicsd.conf", daemon->directory);
    snprintf(daemon->log_file, sizeof daemon->log_file, "%s/log", daemon->directory);
    snprintf(daemon->models, sizeof daemon->models, "%s", options->models ? options->models : DYNAMICS_ROBOTS_DIR);
    snprintf(daemon->request_ipc, sizeof daemon->request_ipc, "ipc://%s/request", daemon->directory);
    snprintf(daemon->events_ipc, sizeof daemon->events_ipc, "ipc://%s/events", daemon->directory);
    snprintf(daemon->ingest_ipc, sizeof daemon->ingest_ipc, "ipc://%s/request.ingest", daemon->directory);
    use_nats(daemon, options);
    daemon_configure(daemon, options->configuration);
    open_notices(daemon);
    start_process(daemon, options->descriptors);
    learn_addresses(daemon);
}

void daemon_signal(const daemon_fixture *daemon, int signal) {
    ck_assert_int_eq(kill(daemon->process, signal), 0);
}

/* Fails the test with a message, after the daemon's log, which is too long for a message of Check. */
static void fail_with_log(const daemon_fixture *daemon, const char *problem, const char *detail) {
    char *log = daemon_log(daemon);
    fprintf(stderr, "the log of the daemon:\n%s", log);
    free(log);
    ck_abort_msg("%s %s; its log is above", problem, detail);
}

void daemon_wait_for_notice(const daemon_fixture *daemon, const char *text, double seconds) {
    double end = now() + seconds;
    while (now() < end) {
        if (find_notice(daemon->notices, text)) {
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        siginfo_t ended = {.si_pid = 0};
        if (waitid(P_PID, (id_t)daemon->process, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0) {
            fail_with_log(daemon, "the daemon ended before", text);
        }
    }
    fail_with_log(daemon, "the daemon has not told its service manager", text);
}

/* Removes a directory and its contents. */
static void remove_directory(const char *path) {
    DIR *directory = opendir(path);
    for (struct dirent *entry = directory ? readdir(directory) : NULL; entry; entry = readdir(directory)) {
        char inner[PATH_MAX];
        bool is_self = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!is_self && unlinkat(dirfd(directory), entry->d_name, 0) != 0) {
            snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
            remove_directory(inner);
        }
    }
    if (directory) {
        closedir(directory);
    }
    rmdir(path);
}

/* Waits for the end of the process; returns its exit code, or 128 and the signal's number. Prints the log unless the
 * code is 0 or the signal SIGKILL. Fails the test after `seconds`. */
static int wait_for_end(daemon_fixture *daemon, double seconds) {
    double end = now() + seconds;
    int status = 0;
    while (waitpid(daemon->process, &status, WNOHANG) == 0) {
        if (now() > end) {
            fail_with_log(daemon, "the daemon does not", "end");
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code != 0 && code != 128 + SIGKILL) {
        char *log = daemon_log(daemon);
        fprintf(stderr, "the daemon ended with code %d; its log:\n%s", code, log);
        free(log);
    }
    return code;
}

int daemon_wait(daemon_fixture *daemon, double seconds) {
    int code = wait_for_end(daemon, seconds);
    close_notices(daemon);
    remove_directory(daemon->directory);
    if (daemon->has_server) {
        nats_server_stop(&daemon->server);
    }
    return code;
}

int daemon_end(daemon_fixture *daemon, int signal) {
    daemon_signal(daemon, signal);
    return wait_for_end(daemon, 20);
}

void daemon_begin(daemon_fixture *daemon) {
    start_process(daemon, 0);
    learn_addresses(daemon);
}

void daemon_restart(daemon_fixture *daemon) {
    ck_assert_int_eq(daemon_end(daemon, SIGTERM), 0);
    daemon_begin(daemon);
}

void daemon_stop(daemon_fixture *daemon) {
    daemon_signal(daemon, SIGTERM);
    ck_assert_int_eq(daemon_wait(daemon, 20), 0);
}

size_t daemon_resident_bytes(const daemon_fixture *daemon) {
    char path[64];
    unsigned long size, resident = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)daemon->process);
    char *text = read_file(path);
    ck_assert_int_eq(sscanf(text, "%lu %lu", &size, &resident), 2);
    free(text);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

size_t daemon_open_descriptors(const daemon_fixture *daemon) {
    char path[64];
    size_t count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)daemon->process);
    DIR *directory = opendir(path);
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        count += entry->d_name[0] != '.';
    }
    closedir(directory);
    return count;
}

void daemon_expect_descriptors(const daemon_fixture *daemon, size_t most, double seconds) {
    double end = now() + seconds;
    for (size_t open = daemon_open_descriptors(daemon); open > most; open = daemon_open_descriptors(daemon)) {
        ck_assert_msg(now() < end, "%zu descriptors are open instead of %zu", open, most);
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
}
