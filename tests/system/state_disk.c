/* SPDX-License-Identifier: BSD-2-Clause */
#include "system/state_disk.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

/* Mounts a file system in a mount namespace of this process. */
static bool mount_at(const char *directory, const char *size) {
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", directory, "tmpfs", 0, size) == 0;
}

bool state_disk_mount(const daemon_fixture *daemon, const char *size) {
    char state[PATH_MAX];
    snprintf(state, sizeof state, "%s/state", daemon->directory);
    return mount_at(state, size);
}

bool state_disk_can_mount(void) {
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        _exit(mount_at("/tmp", "size=1m") ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void path_of_filler(const daemon_fixture *daemon, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/state/filler", daemon->directory);
}

void state_disk_fill(const daemon_fixture *daemon) {
    static const char zeros[65536];
    char path[PATH_MAX];
    path_of_filler(daemon, path);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    ck_assert_int_ge(file, 0);
    for (size_t size = sizeof zeros; size > 0;) {
        if (write(file, zeros, size) <= 0) {
            size /= 2;
        }
    }
    close(file);
}

void state_disk_free(const daemon_fixture *daemon) {
    char path[PATH_MAX];
    path_of_filler(daemon, path);
    ck_assert(unlink(path) == 0 || errno == ENOENT);
}
