/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors in the arguments of a service call.
 */
#ifndef ROSBRIDGE_METHOD_ERROR_H
#define ROSBRIDGE_METHOD_ERROR_H

/* Size of the buffer for an error message, including its terminating zero. */
enum { METHOD_ERROR_SIZE = 768 };

#endif
