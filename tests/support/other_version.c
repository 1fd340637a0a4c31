/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a daemon one of another version: a preloaded library whose dyn_version replaces that of libdynamics.
 */
#include <dynamics/dynamics.h>

const char *dyn_version(void) {
    return "99.0.0";
}
