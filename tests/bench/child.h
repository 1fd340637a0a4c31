/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts and stops child processes of the benchmark, and creates private directories for their files and sockets. A
 * child is killed when the benchmark ends.
 */
#ifndef DYNAMICS_BENCH_CHILD_H
#define DYNAMICS_BENCH_CHILD_H

#include <sys/types.h>

typedef struct child {
    pid_t process;
    int output; /* read end of its standard output */
} child;

/* Starts a program. The first of `arguments` is its path and the last is NULL. Standard output goes to a pipe, standard
 * error to the file `log`, or to /dev/null where it is NULL. Ends the benchmark where no process can be created. */
child child_start(const char *const *arguments, const char *log);

/* Sends SIGTERM and waits for the end of the program. */
void child_stop(child *c);

/* Returns the processor time of all threads of the program so far, ns. */
double child_time(const child *c);

/* Waits for the end of the program and closes its output; returns its exit status, or -1 where a signal ended it. */
int child_wait(child *c);

/* Creates a new directory below /tmp. remove_directory, or the exit of this program, removes it with its files. */
void make_directory(char path[64]);
void remove_directory(const char *path);

/* Writes the path of this program's executable. */
void own_path(char *path, size_t size);

/* Writes the path of the file `name` in the directory of this program's executable. */
void path_beside(const char *name, char *path, size_t size);

/* Copies a file, such as the log of a program that failed, to standard error. */
void show_file(const char *path);

/* Prints a message and ends the benchmark with a failure. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
