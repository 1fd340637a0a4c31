/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of the kinds of elements of a description.
 */
#include "element.h"

const char *element_kind_name(dyn_element_kind kind) {
    static const char *const names[] = {[DYN_ELEMENT_KIND_NONE] = "description",
                                        [DYN_ELEMENT_KIND_ROBOT] = "robot",
                                        [DYN_ELEMENT_KIND_LINK] = "link",
                                        [DYN_ELEMENT_KIND_JOINT] = "joint",
                                        [DYN_ELEMENT_KIND_CONSTRAINT] = "constraint",
                                        [DYN_ELEMENT_KIND_MACHINE_ELEMENT] = "machine element"};
    return names[kind];
}
