/* SPDX-License-Identifier: BSD-2-Clause */
/* Library for LD_PRELOAD: makes the n-th allocation, or the n-th system call about files, of a program fail. */
#include "failing_calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* Decides whether this call of an exported function fails. */
#define FAILS(kind) fails(kind, (uintptr_t)__builtin_return_address(0))

/* Allocation of glibc, which these names always reach. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

enum { MAX_RANGES = 8 };

typedef struct range {
    uintptr_t begin, end;
} range;

static failing_control *control;
static range ranges[MAX_RANGES]; /* code whose calls fail */
static size_t range_count;

static bool fails(failing_kind kind, uintptr_t caller) {
    if (!control || atomic_load_explicit(&control->countdown, memory_order_relaxed) <= 0 ||
        atomic_load_explicit(&control->kind, memory_order_relaxed) != (int)kind) {
        return false;
    }
    for (size_t i = 0; i < range_count; i++) {
        if (caller >= ranges[i].begin && caller < ranges[i].end) {
            bool is_it = atomic_fetch_sub(&control->countdown, 1) == 1;
            atomic_fetch_add(&control->failed, is_it);
            errno = is_it && kind == FAILING_CALLS ? atomic_load(&control->error) : is_it ? ENOMEM : errno;
            return is_it;
        }
    }
    return false;
}

/* Adds the code of an object of the program. */
static int add_ranges(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    (void)context;
    bool is_wanted = object->dlpi_name[0] == '\0' || strstr(object->dlpi_name, "libdynamics") ||
                     strstr(object->dlpi_name, "libprotobuf-c");
    for (int i = 0; is_wanted && i < object->dlpi_phnum && range_count < MAX_RANGES; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X)) {
            uintptr_t begin = object->dlpi_addr + part->p_vaddr;
            ranges[range_count++] = (range){begin, begin + part->p_memsz};
        }
    }
    return 0;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAILING_CALLS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *mapped = file >= 0 ? mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (file >= 0) {
        close(file);
    }
    dl_iterate_phdr(add_ranges, NULL);
    control = mapped == MAP_FAILED ? NULL : mapped;
}

/* ---- allocations ------------------------------------------------------------------------------------------------- */

EXPORTED void *malloc(size_t size) {
    return FAILS(FAILING_ALLOCATIONS) ? NULL : __libc_malloc(size);
}

EXPORTED void *calloc(size_t count, size_t size) {
    return FAILS(FAILING_ALLOCATIONS) ? NULL : __libc_calloc(count, size);
}

EXPORTED void *realloc(void *block, size_t size) {
    return FAILS(FAILING_ALLOCATIONS) ? NULL : __libc_realloc(block, size);
}

static char *copy(const char *text, size_t length) {
    char *made = __libc_malloc(length + 1);
    if (made) {
        memcpy(made, text, length);
        made[length] = '\0';
    }
    return made;
}

EXPORTED char *strdup(const char *text) {
    return FAILS(FAILING_ALLOCATIONS) ? NULL : copy(text, strlen(text));
}

EXPORTED char *strndup(const char *text, size_t most) {
    return FAILS(FAILING_ALLOCATIONS) ? NULL : copy(text, strnlen(text, most));
}

/* ---- system calls ------------------------------------------------------------------------------------------------ */

/* Defines a function that fails, or calls the one of libc. */
#define FAILING(result, name, failure, parameters, arguments)                                                          \
    EXPORTED result name parameters {                                                                                  \
        static result(*real) parameters;                                                                               \
        if (FAILS(FAILING_CALLS)) {                                                                                    \
            return failure;                                                                                            \
        }                                                                                                              \
        if (!real) {                                                                                                   \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                                                                 \
        }                                                                                                              \
        return real arguments;                                                                                         \
    }

FAILING(ssize_t, read, -1, (int file, void *bytes, size_t size), (file, bytes, size))
FAILING(ssize_t, pread, -1, (int file, void *bytes, size_t size, off_t at), (file, bytes, size, at))
FAILING(ssize_t, write, -1, (int file, const void *bytes, size_t size), (file, bytes, size))
FAILING(ssize_t, pwrite, -1, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
FAILING(int, fsync, -1, (int file), (file))
FAILING(int, fdatasync, -1, (int file), (file))
FAILING(int, ftruncate, -1, (int file, off_t size), (file, size))
FAILING(int, fallocate, -1, (int file, int mode, off_t at, off_t size), (file, mode, at, size))
FAILING(int, fstat, -1, (int file, struct stat *status), (file, status))
FAILING(int, lstat, -1, (const char *path, struct stat *status), (path, status))
FAILING(int, stat, -1, (const char *path, struct stat *status), (path, status))
FAILING(int, rename, -1, (const char *from, const char *to), (from, to))
FAILING(int, unlink, -1, (const char *path), (path))
FAILING(int, mkdir, -1, (const char *path, mode_t mode), (path, mode))
FAILING(DIR *, opendir, NULL, (const char *path), (path))
FAILING(FILE *, fopen, NULL, (const char *path, const char *mode), (path, mode))
FAILING(FILE *, fdopen, NULL, (int file, const char *mode), (file, mode))

EXPORTED int open(const char *path, int flags, ...) {
    static int (*real)(const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (FAILS(FAILING_CALLS)) {
        return -1;
    }
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "open");
    }
    return real(path, flags, mode);
}
