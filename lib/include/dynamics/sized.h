/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs that grow with the library.
 *
 * The first member of such a struct is struct_size, its size in the caller's header, which its macro DYN_..._INIT sets.
 * A member that the caller's header lacks has its default. A caller with a newer header than the library must leave
 * zero what the library does not know.
 *
 *     dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
 *
 * The macros are for C, and for C++20 and later; other programs set struct_size to sizeof(dyn_build_options).
 * Errors of a function that reads such a struct: DYN_INVALID_ARGUMENT with a place such as "options.struct_size" for a
 * size that no version of the struct has, and for members that are set and unknown.
 */
#ifndef DYNAMICS_SIZED_H
#define DYNAMICS_SIZED_H

/* Initializer of a struct that grows. */
#define DYN_SIZED(type, ...)                                                                                           \
    { .struct_size = sizeof(type), __VA_ARGS__ }

#endif
