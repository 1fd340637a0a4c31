/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Version of the files of the state directory: a daemon reads those of its own and of all earlier formats.
 */
#ifndef SERVER_METHODS_STATE_VERSION_H
#define SERVER_METHODS_STATE_VERSION_H

#include "dynamics/v1/recording.pb-c.h"
#include "methods/field_check.h"

/* Format of the files that this daemon writes. It grows when a file needs other rules to be read; new fields do not
 * change it. */
enum { STATE_FORMAT = 1 };

/* Fills the version of this daemon. Its texts are constants. */
void state_version_fill(Dynamics__V1__StateVersion *version);

/* Returns whether a later format is stated, and fills `text` with a sentence about it. NULL, of an earlier release, is
 * not later. */
bool state_version_is_later(const Dynamics__V1__StateVersion *version, char text[UNKNOWN_FIELD_SIZE]);

#endif
