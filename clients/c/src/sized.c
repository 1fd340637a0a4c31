/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies structs between the version of the caller and that of the library.
 */
#include "sized.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

/* Largest valid struct_size, in bytes. A greater number means that the caller has not initialized the struct. */
enum { MAX_SIZE = 4096 };

static size_t size_of(const void *sized) {
    size_t size;
    memcpy(&size, sized, sizeof size);
    return size;
}

static dyn_client_status fail_size(const char *name, size_t size, const char *advice, dyn_client_error *error) {
    char field[DYN_CLIENT_FIELD_SIZE];
    snprintf(field, sizeof field, "%s.struct_size", name);
    return fail(error, DYN_CLIENT_INVALID_ARGUMENT, field, "struct_size is %zu: %s", size, advice);
}

dyn_client_status sized_check(const char *name, const void *sized, dyn_client_error *error) {
    if (!sized) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, name, "%s is NULL", name);
    }
    size_t size = size_of(sized);
    if (size < sizeof size || size > MAX_SIZE) {
        return fail_size(name, size, "initialize the struct with its DYN_CLIENT_..._INIT macro", error);
    }
    return DYN_CLIENT_OK;
}

dyn_client_status sized_read(const char *name, const void *from, size_t size, void *to, dyn_client_error *error) {
    dyn_client_status status = sized_check(name, from, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    const unsigned char *bytes = from;
    size_t caller_size = size_of(from);
    for (size_t i = size; i < caller_size; i++) {
        if (bytes[i] != 0) {
            return fail_size(name, caller_size,
                             "the struct has members that this version of libdynamicsclient does not know; leave them "
                             "zero, or use the library that came with the header",
                             error);
        }
    }
    memset(to, 0, size);
    memcpy(to, from, caller_size < size ? caller_size : size);
    memcpy(to, &size, sizeof size);
    return DYN_CLIENT_OK;
}

void sized_write(const void *from, size_t size, void *to) {
    size_t room = size_of(to);
    memcpy((unsigned char *)to + sizeof room, (const unsigned char *)from + sizeof room,
           (room < size ? room : size) - sizeof room);
    if (room > size) {
        memset((unsigned char *)to + size, 0, room - size);
    }
}
