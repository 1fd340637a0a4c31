/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declares the function of a fuzz target under the name that libFuzzer calls. It passes any bytes to the code under
 * test, returns 0, and aborts if a property does not hold.
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
