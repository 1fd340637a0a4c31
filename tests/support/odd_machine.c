/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Library for LD_PRELOAD: moves the wall clock of a program, and slows its writes to files.
 *
 * The kernel still has its own clock: a program that waits until a wall time waits by the shift too long, as it would
 * after a jump of the clock back.
 */
#include "odd_machine.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static odd_machine *machine;
static int (*real_clock)(clockid_t clock, struct timespec *time);

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("ODD_MACHINE");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *mapped = file >= 0 ? mmap(NULL, sizeof *machine, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (file >= 0) {
        close(file);
    }
    *(void **)&real_clock = dlsym(RTLD_NEXT, "clock_gettime");
    machine = mapped == MAP_FAILED ? NULL : mapped;
}

/* Returns whether an address is code of libnats, which waits by the wall clock. */
static bool is_of_nats(void *code) {
    Dl_info object;
    return dladdr(code, &object) != 0 && object.dli_fname && strstr(object.dli_fname, "libnats");
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = real_clock ? real_clock(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
    if (machine && clock == CLOCK_REALTIME && !is_of_nats(__builtin_return_address(0))) {
        time->tv_sec += atomic_load_explicit(&machine->shift, memory_order_relaxed);
    }
    return result;
}

EXPORTED time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) {
        *result = now.tv_sec;
    }
    return now.tv_sec;
}

/* Waits for the slow disk, if the descriptor is a file other than those of the standard streams. */
static void wait_for_disk(int file) {
    struct stat status;
    long delay = machine ? atomic_load_explicit(&machine->delay, memory_order_relaxed) : 0;
    if (delay > 0 && file > STDERR_FILENO && fstat(file, &status) == 0 &&
        (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) {
        const struct timespec pause = {.tv_sec = delay / 1000, .tv_nsec = delay % 1000 * 1000000};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        atomic_fetch_add(&machine->delayed, 1);
    }
}

/* Defines a function that waits for the disk, and then calls the one of libc. */
#define SLOW(result, name, parameters, arguments)                                                                      \
    EXPORTED result name parameters {                                                                                  \
        static result(*real) parameters;                                                                               \
        if (!real) {                                                                                                   \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                                                                 \
        }                                                                                                              \
        wait_for_disk(file);                                                                                           \
        return real arguments;                                                                                         \
    }

SLOW(ssize_t, write, (int file, const void *bytes, size_t size), (file, bytes, size))
SLOW(ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
SLOW(int, fsync, (int file), (file))
SLOW(int, fdatasync, (int file), (file))
