/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Version of the library.
 */
#include <dynamics/version.h>

const char *dyn_version(void) {
    return DYN_VERSION;
}
