/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs that grow with the library.
 *
 * The first member of such a struct is struct_size, its size in the caller's header. The macro DYN_..._INIT sets it and
 * the defaults that are not zero. The library uses the default of a member that the caller's header lacks. A caller
 * with a newer header than the library must set the members that the library does not know to zero.
 *
 *     dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
 *
 * The macros are for C, and for C++20 and later. Other programs set all bytes to zero, struct_size to
 * sizeof(dyn_build_options), and each member whose default is not zero.
 * Errors of a function that reads such a struct: DYN_INVALID_ARGUMENT with a place such as "options.struct_size" for a
 * struct_size of zero, or any other below sizeof(size_t) or above 4096, and for unknown members that are not zero.
 */
#ifndef DYNAMICS_SIZED_H
#define DYNAMICS_SIZED_H

/* Initializer of a struct that grows. */
#define DYN_SIZED(type, ...)                                                                                           \
    { .struct_size = sizeof(type), __VA_ARGS__ }

#endif
