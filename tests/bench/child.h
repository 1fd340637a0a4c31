/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that the benchmark starts, and a private directory for its sockets. The program dies with the benchmark.
 */
#ifndef DYNAMICS_BENCH_CHILD_H
#define DYNAMICS_BENCH_CHILD_H

#include <sys/types.h>

typedef struct child {
    pid_t process;
    int output; /* what it writes to standard output */
} child;

/* Starts a program with arguments, ended by NULL, of which the first is its path. Standard error goes to the file
 * `log`, or nowhere where it is NULL. */
child child_start(const char *const *arguments, const char *log);

/* Ends it by SIGTERM and waits for its end. */
void child_stop(child *c);

/* Waits for its end; returns its exit status, or -1. */
int child_wait(child *c);

/* A new directory; removed with what is in it by remove_directory, or at the end of the program. */
void make_directory(char path[64]);
void remove_directory(const char *path);

/* Path of this program's executable, or of one beside it. */
void own_path(char *path, size_t size);
void path_beside(const char *name, char *path, size_t size);

/* Copies a file, such as the log of a program that failed, to standard error. */
void show_file(const char *path);

/* Ends the benchmark with a sentence. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
