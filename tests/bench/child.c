/* SPDX-License-Identifier: BSD-2-Clause */
#include "child.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

_Noreturn void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("dynamics-bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(EXIT_FAILURE);
}

/* Turns the new process into the program, which is killed when the benchmark ends. Exits with 127 where it cannot be
 * executed. */
static _Noreturn void become(const char *const *arguments, const char *log, int output) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int errors = open(log ? log : "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    execvp(arguments[0], (char *const *)arguments);
    _exit(127);
}

child child_start(const char *const *arguments, const char *log) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        die("cannot make a pipe");
    }
    fflush(stdout);
    child c = {.process = fork(), .output = ends[0]};
    if (c.process < 0) {
        die("cannot start %s", arguments[0]);
    }
    if (c.process == 0) {
        become(arguments, log, ends[1]);
    }
    close(ends[1]);
    return c;
}

double child_time(const child *c) {
    clockid_t clock;
    if (clock_getcpuclockid(c->process, &clock) != 0) {
        die("the processor time of process %d is not known", (int)c->process);
    }
    return clock_ns(clock);
}

int child_wait(child *c) {
    int status = 0;
    pid_t ended = waitpid(c->process, &status, 0);
    close(c->output);
    return ended == c->process && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void child_stop(child *c) {
    kill(c->process, SIGTERM);
    child_wait(c);
}

/* Directories that exist now; an empty string marks one that was removed. */
enum { DIRECTORIES = 64 };
static char directories[DIRECTORIES][64];
static int directory_count;

/* Removes the directories that exist when the program exits, also after a failure. */
static void remove_all_directories(void) {
    for (int i = 0; i < directory_count; i++) {
        if (directories[i][0]) {
            remove_directory(directories[i]);
        }
    }
}

void make_directory(char path[64]) {
    snprintf(path, 64, "/tmp/dynamics-bench-XXXXXX");
    if (directory_count == DIRECTORIES || !mkdtemp(path)) {
        die("cannot make a directory in /tmp");
    }
    if (directory_count == 0) {
        atexit(remove_all_directories);
    }
    memcpy(directories[directory_count++], path, sizeof directories[0]);
}

void remove_directory(const char *path) {
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        unlinkat(dirfd(directory), entry->d_name, 0);
    }
    if (directory) {
        closedir(directory);
    }
    rmdir(path);
    for (int i = 0; i < directory_count; i++) {
        if (strcmp(directories[i], path) == 0) {
            directories[i][0] = '\0';
        }
    }
}

void show_file(const char *path) {
    FILE *file = fopen(path, "r");
    char line[512];
    while (file && fgets(line, sizeof line, file)) {
        fputs(line, stderr);
    }
    if (file) {
        fclose(file);
    }
}

void own_path(char *path, size_t size) {
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
}

void path_beside(const char *name, char *path, size_t size) {
    own_path(path, size);
    char *slash = strrchr(path, '/');
    size_t used = slash ? (size_t)(slash + 1 - path) : 0;
    snprintf(path + used, size - used, "%s", name);
}
