/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access to structs that grow with the library.
 */
#include "sized.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

/* Bound of struct_size, in bytes. A greater number is that of a struct which was not initialized. */
enum { MAX_SIZE = 4096 };

static size_t size_of(const void *sized) {
    size_t size;
    memcpy(&size, sized, sizeof size);
    return size;
}

static dyn_status fail_size(const char *name, size_t size, const char *advice, dyn_error *error) {
    char place[DYN_PLACE_SIZE];
    snprintf(place, sizeof place, "%s.struct_size", name);
    return dyn_error_set(error, DYN_INVALID_ARGUMENT, place, "struct_size is %zu: %s", size, advice);
}

static dyn_status check_size(const char *name, const void *sized, dyn_error *error) {
    size_t size = size_of(sized);
    return size >= sizeof size && size <= MAX_SIZE
               ? DYN_OK
               : fail_size(name, size, "initialize the struct with its DYN_..._INIT macro", error);
}

dyn_status dyn_sized_read(const char *name, const void *from, size_t size, void *to, dyn_error *error) {
    if (!from) {
        return DYN_OK;
    }
    dyn_status status = check_size(name, from, error);
    if (status != DYN_OK) {
        return status;
    }
    const unsigned char *bytes = from;
    size_t caller_size = size_of(from);
    for (size_t i = size; i < caller_size; i++) {
        if (bytes[i] != 0) {
            return fail_size(name, caller_size,
                             "the struct has members that this version of libdynamics does not know; leave them zero, "
                             "or use the library that came with the header",
                             error);
        }
    }
    memcpy(to, from, caller_size < size ? caller_size : size);
    memcpy(to, &size, sizeof size);
    return DYN_OK;
}

dyn_status dyn_sized_write(const char *name, const void *from, size_t size, void *to, dyn_error *error) {
    dyn_status status = check_size(name, to, error);
    if (status != DYN_OK) {
        return status;
    }
    size_t room = size_of(to);
    memcpy(to, from, room < size ? room : size);
    if (room > size) {
        memset((unsigned char *)to + size, 0, room - size);
    }
    memcpy(to, &room, sizeof room);
    return DYN_OK;
}
