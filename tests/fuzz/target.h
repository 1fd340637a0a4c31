/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fuzz target: a function of any bytes. It aborts where a property does not hold.
 */
#ifndef DYNAMICS_TESTS_FUZZ_TARGET_H
#define DYNAMICS_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
