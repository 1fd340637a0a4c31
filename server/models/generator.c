/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs dynamics-compile on files in memory: the description is its standard input, the text its standard output. */
#include "models/generator.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dynamics/dynamics.h>

enum { MOST_WORDS = 16, WORD_SIZE = 64 };

/* Exit code of a wrong command line. */
static const int REFUSAL_CODE = 2;

/* Interval at which the process is looked at. */
static const struct timespec INTERVAL = {.tv_nsec = 10000000};

/* Set while a process runs. */
static atomic_flag is_running = ATOMIC_FLAG_INIT;

/* Files of the process: standard input, output and error. */
typedef struct process_files {
    int of[3];
} process_files;

bool generator_find_program(const char *configured, char path[PATH_MAX]) {
    static const char name[] = "dynamics-compile";
    if (configured[0] != '\0') {
        return snprintf(path, PATH_MAX, "%s", configured) < PATH_MAX;
    }
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - sizeof name);
    if (length <= 0) {
        return false;
    }
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, name);
    return true;
}

static generator_outcome fail(char reason[GENERATOR_REASON_SIZE], const char *what, int error) {
    snprintf(reason, GENERATOR_REASON_SIZE, "%.300s: %s", what, strerror(error));
    return GENERATOR_FAILED;
}

static void close_files(process_files *files) {
    for (int i = 0; i < 3; i++) {
        if (files->of[i] >= 0) {
            close(files->of[i]);
        }
    }
}

/* Creates the files, the first with the description of the model. On an error sets the reason and returns false; the
 * caller closes the files in any case. */
static bool open_files(const dyn_model *model, process_files *files, char reason[GENERATOR_REASON_SIZE]) {
    char *text = NULL;
    size_t length;
    dyn_error error;
    bool is_open = true;
    for (int i = 0; i < 3; i++) {
        files->of[i] = memfd_create("dynamics-compile", MFD_CLOEXEC);
        is_open = is_open && files->of[i] >= 0;
    }
    if (!is_open) {
        fail(reason, "no file in memory can be made", errno);
        return false;
    }
    if (dyn_description_write(model, &text, &length, &error) != DYN_OK) {
        snprintf(reason, GENERATOR_REASON_SIZE, "%.300s", error.message);
        return false;
    }
    size_t written = 0;
    for (ssize_t n = 1; written < length && n > 0; written += n > 0 ? (size_t)n : 0) {
        n = write(files->of[0], text + written, length - written);
    }
    dyn_text_free(text);
    if (written < length || lseek(files->of[0], 0, SEEK_SET) != 0) {
        fail(reason, "the description cannot be written", errno);
        return false;
    }
    return true;
}

/* Starts the process in a group of its own, with default signals. Returns an error number, or 0. */
static int start(const char *program, char *const *words, const process_files *files, pid_t *pid) {
    extern char **environ;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    for (int i = 0; i < 3 && error == 0; i++) {
        error = posix_spawn_file_actions_adddup2(&actions, files->of[i], i);
    }
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    error = error == 0 ? posix_spawn(pid, program, &actions, &attributes, words, environ) : error;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Returns the size of a file in bytes. */
static size_t size_of(int file) {
    struct stat s;
    return fstat(file, &s) == 0 ? (size_t)s.st_size : 0;
}

/* Waits for the end of the process, which it kills when it must not go on. Stores the status of waitpid. */
static generator_outcome wait_for(pid_t pid, int output, size_t most, bool (*proceed)(void *context), void *context,
                                  int *status) {
    generator_outcome outcome = GENERATOR_DONE;
    for (pid_t ended = 0; ended == 0;) {
        ended = waitpid(pid, status, WNOHANG);
        if (ended == 0) {
            nanosleep(&INTERVAL, NULL);
            outcome = size_of(output) > most ? GENERATOR_TOO_LARGE
                      : proceed(context)     ? GENERATOR_DONE
                                             : GENERATOR_STOPPED;
        }
        if (outcome != GENERATOR_DONE) {
            kill(-pid, SIGKILL);
            waitpid(pid, status, 0);
            return outcome;
        }
    }
    return size_of(output) > most ? GENERATOR_TOO_LARGE : GENERATOR_DONE;
}

/* Returns the contents of a file as a string, or NULL when out of memory. */
static char *read_text(int file, size_t size) {
    char *text = malloc(size + 1);
    size_t length = 0;
    for (ssize_t n = 1; text && length < size && n > 0; length += n > 0 ? (size_t)n : 0) {
        n = pread(file, text + length, size - length, (off_t)length);
    }
    if (text) {
        text[length] = '\0';
    }
    return text;
}

/* Sets the reason to the first line that the program wrote to standard error, without its name, or else to its end. */
static generator_outcome explain(int messages, int status, char reason[GENERATOR_REASON_SIZE]) {
    static const char prefix[] = "dynamics-compile: ";
    size_t size = size_of(messages);
    char *text = read_text(messages, size < 1000 ? size : 1000);
    const char *line = text && strncmp(text, prefix, strlen(prefix)) == 0 ? text + strlen(prefix) : text;
    if (line && line[0] != '\0') {
        snprintf(reason, GENERATOR_REASON_SIZE, "%.*s", (int)strcspn(line, "\n"), line);
    } else if (WIFSIGNALED(status)) {
        snprintf(reason, GENERATOR_REASON_SIZE, "dynamics-compile ended with signal %d", WTERMSIG(status));
    } else {
        snprintf(reason, GENERATOR_REASON_SIZE, "dynamics-compile ended with exit code %d", WEXITSTATUS(status));
    }
    free(text);
    return WIFEXITED(status) && WEXITSTATUS(status) == REFUSAL_CODE ? GENERATOR_REFUSED : GENERATOR_FAILED;
}

/* Command line of the program. */
typedef struct command_line {
    char sandbox[SANDBOX_WORD_SIZE], time[WORD_SIZE], memory[WORD_SIZE];
    char *words[MOST_WORDS + 8];
} command_line;

void generator_write_sandbox(const char *sandbox, char word[SANDBOX_WORD_SIZE]) {
    word[0] = '\0';
    if (sandbox[0] != '\0') {
        snprintf(word, SANDBOX_WORD_SIZE, "--sandbox=%s", sandbox);
    }
}

static void write_command(const generator_options *options, const char *const *words, command_line *line) {
    size_t count = 0;
    snprintf(line->time, sizeof line->time, "--cpu-seconds=%.0f", options->time > 1 ? options->time : 1);
    snprintf(line->memory, sizeof line->memory, "--memory-megabytes=%zu", options->memory_bytes >> 20);
    generator_write_sandbox(options->sandbox, line->sandbox);
    const char *const first[] = {options->program, line->sandbox, "-", "-o", "-", line->time, line->memory};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        if (first[i][0] != '\0') {
            line->words[count++] = (char *)first[i];
        }
    }
    for (size_t i = 0; words[i] && i < MOST_WORDS; i++) {
        line->words[count++] = (char *)words[i];
    }
    line->words[count] = NULL;
}

generator_outcome generator_run(const generator_options *options, const dyn_model *model, const char *const *words,
                                size_t most, bool (*proceed)(void *context), void *context, char **text,
                                char reason[GENERATOR_REASON_SIZE]) {
    command_line line;
    process_files files;
    pid_t pid;
    int status = 0;
    *text = NULL;
    if (atomic_flag_test_and_set(&is_running)) {
        return GENERATOR_BUSY;
    }
    generator_outcome outcome = GENERATOR_FAILED;
    write_command(options, words, &line);
    if (open_files(model, &files, reason)) {
        int error = start(options->program, line.words, &files, &pid);
        fail(reason, options->program, error);
        outcome = error == 0 ? wait_for(pid, files.of[1], most, proceed, context, &status) : GENERATOR_MISSING;
    }
    if (outcome == GENERATOR_DONE && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        outcome = explain(files.of[2], status, reason);
    }
    if (outcome == GENERATOR_DONE) {
        *text = read_text(files.of[1], size_of(files.of[1]));
        outcome = *text ? GENERATOR_DONE : fail(reason, "the text", ENOMEM);
    }
    close_files(&files);
    atomic_flag_clear(&is_running);
    return outcome;
}
