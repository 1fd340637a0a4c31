/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds how much memory this process may use, and sets when malloc returns freed memory to the system. */
#include "system_memory.h"

#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Returns the number in a file, or SIZE_MAX if it has none ("max") or does not exist. */
static size_t read_limit(const char *path) {
    unsigned long long bytes = 0;
    FILE *file = fopen(path, "re");
    bool has_number = file && fscanf(file, "%llu", &bytes) == 1;
    if (file) {
        fclose(file);
    }
    return has_number && bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

/* Returns the lowest limit of a control group and those above it, or SIZE_MAX if there is none. A container may not see
 * its group's own path. */
static size_t group_limit(const char *mount, const char *group, const char *file) {
    char path[2 * PATH_MAX], name[PATH_MAX];
    size_t least = SIZE_MAX;
    snprintf(name, sizeof name, "%s", strcmp(group, "/") == 0 ? "" : group);
    for (;;) {
        snprintf(path, sizeof path, "%s%s/%s", mount, name, file);
        size_t limit = read_limit(path);
        least = limit < least ? limit : least;
        char *slash = strrchr(name, '/');
        if (!slash) {
            return least;
        }
        *slash = '\0';
    }
}

/* Returns the limit of a line of /proc/self/cgroup, which is "number:controllers:group"; version 2 has number 0 and no
 * controllers. */
static size_t line_limit(char *line) {
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) {
        return SIZE_MAX;
    }
    *group++ = '\0';
    controllers++;
    if (controllers[0] == '\0') {
        return group_limit("/sys/fs/cgroup", group, "memory.max");
    }
    return strcmp(controllers, "memory") == 0 ? group_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes")
                                              : SIZE_MAX;
}

static size_t least_group_limit(void) {
    char line[PATH_MAX];
    size_t least = SIZE_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        size_t limit = line_limit(line);
        least = limit < least ? limit : least;
    }
    if (file) {
        fclose(file);
    }
    return least;
}

static size_t resource_limit(__rlimit_resource_t resource) {
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? (size_t)limit.rlim_cur : SIZE_MAX;
}

size_t system_memory_bytes(void) {
    const size_t bounds[] = {
        (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE),
        least_group_limit(),
        resource_limit(RLIMIT_AS),
        resource_limit(RLIMIT_DATA),
    };
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        least = bounds[i] < least ? bounds[i] : least;
    }
    return least;
}

/* Thresholds of malloc in bytes. The larger of each pair is the highest value to which glibc raises it by itself. */
enum { LEAST_MAPPED = 1 << 20, MOST_MAPPED = 32 << 20, LEAST_TRIMMED = 128 << 10, MOST_TRIMMED = 64 << 20 };

void system_memory_return_blocks(bool returns) {
    mallopt(M_MMAP_THRESHOLD, returns ? LEAST_MAPPED : MOST_MAPPED);
    mallopt(M_TRIM_THRESHOLD, returns ? LEAST_TRIMMED : MOST_TRIMMED);
}
