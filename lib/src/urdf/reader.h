/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of reading one URDF document, shared by the files of this directory.
 */
#ifndef DYNAMICS_URDF_READER_H
#define DYNAMICS_URDF_READER_H

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>

#include <expat.h>

#include <dynamics/urdf.h>

#include "../model/description.h"
#include "../model/load_report.h"
#include "../model/name_index.h"

/* Position of the reader in the document. */
typedef enum element {
    ELEMENT_DOCUMENT,
    ELEMENT_ROBOT,
    ELEMENT_NOTE,
    ELEMENT_LINK,
    ELEMENT_INERTIAL,
    ELEMENT_INERTIAL_ORIGIN,
    ELEMENT_MASS,
    ELEMENT_INERTIA,
    ELEMENT_JOINT,
    ELEMENT_JOINT_ORIGIN,
    ELEMENT_PARENT,
    ELEMENT_CHILD,
    ELEMENT_AXIS,
    ELEMENT_LIMIT,
    ELEMENT_DYNAMICS,
    ELEMENT_MIMIC,
    ELEMENT_LOOP,
    ELEMENT_PREDECESSOR,
    ELEMENT_PREDECESSOR_ORIGIN,
    ELEMENT_SUCCESSOR,
    ELEMENT_SUCCESSOR_ORIGIN,
    ELEMENT_LOOP_AXIS,
    ELEMENT_COUPLING,
    ELEMENT_COUPLED_PREDECESSOR,
    ELEMENT_COUPLED_SUCCESSOR,
    ELEMENT_RATIO,
    ELEMENT_LOOP_JOINT,
    ELEMENT_FIRST_LINK,
    ELEMENT_SECOND_LINK,
    ELEMENT_LOOP_JOINT_AXIS,
    ELEMENT_BALL,
    ELEMENT_BALL_BODY_A,
    ELEMENT_BALL_BODY_B,
    ELEMENT_BALL_POINT_A,
    ELEMENT_BALL_POINT_B,
    ELEMENT_DISTANCE,
    ELEMENT_DISTANCE_BODY_A,
    ELEMENT_DISTANCE_BODY_B,
    ELEMENT_DISTANCE_POINT_A,
    ELEMENT_DISTANCE_POINT_B,
    ELEMENT_DISTANCE_VALUE,
    ELEMENT_DISTANCE_STIFFNESS,
    ELEMENT_DISTANCE_DAMPING,
    ELEMENT_IGNORED, /* element that the reader does not understand, or an element in such a one */
} element;

_Static_assert(ELEMENT_IGNORED < 64, "each element has a bit in reader.seen");

/* Kind of ignored elements or attributes, with the number of times that it occurs. */
typedef struct ignored_kind {
    dyn_severity severity;
    int line, count; /* line of the first one; number of all */
    char *place;     /* place of the first one */
    char *what;      /* "<visual> in <link>" */
    const char *why;
} ignored_kind;

/* Ignored elements, by kind. */
typedef struct ignored_list {
    int count, capacity;
    ignored_kind *kinds;
    name_index names; /* index of each kind by its description */
} ignored_list;

/* Largest number of kinds that are counted separately. */
enum { MAX_IGNORED_KINDS = 500 };

/* Coupling of two links. Its joints are known at the end of the document. */
typedef struct pending_coupling {
    char *name, *predecessor, *successor;
    double ratio; /* coordinate of the successor over that of the predecessor */
    int line;
} pending_coupling;

typedef struct coupling_list {
    int count, capacity;
    pending_coupling *couplings;
} coupling_list;

/* State of reading one document. */
typedef struct reader {
    XML_Parser parser;
    locale_t plain; /* "C" locale, whose decimal point is a point */
    dyn_builder *builder;
    dyn_report *report;
    dyn_error *error;
    dyn_status status; /* first error; reading stops there */
    int skipped_lines; /* lines before the text that expat parses */

    element open[DYN_URDF_MAX_DEPTH]; /* open elements, outermost first */
    int depth;
    char subject[DYN_MAX_NAME + 16]; /* current link, joint or constraint, such as "joint elbow" */
    uint64_t seen;                   /* bit e: element e has occurred in the subject */

    char name[DYN_MAX_NAME + 1], parent[DYN_MAX_NAME + 1], child[DYN_MAX_NAME + 1], master[DYN_MAX_NAME + 1];
    dyn_link_description link;   /* current link */
    dyn_joint_description joint; /* current joint */
    double inertia_rotation[9];  /* from the axes of <inertial>'s origin to those of the link */
    bool has_range;              /* the <limit> of the joint states lower or upper */

    dyn_constraint_description constraint; /* current constraint; `parent` and `child` hold its links */
    double ratio;                          /* of the current coupling */
    int unnamed_constraints;               /* constraints without a name so far */
    coupling_list couplings;

    ignored_list ignored;
} reader;

/* Text for expat, and its encoding. */
typedef struct prologue {
    const char *text;
    size_t length;
    const char *encoding; /* NULL: expat detects it */
} prologue;

/* prologue.c: Removes text before the XML and zero bytes after it, and chooses the encoding. Reports all of this. An
 * encoding that cannot be read is the reader's error. */
void prologue_read(reader *r, prologue *p);

/* elements.c: meaning of each element. */

/* Opens an element in the innermost one that is open, or records it as ignored. */
void element_open(reader *r, const char *name, const char **attributes);

/* Closes the innermost element. */
void element_close(reader *r);

/* Declares the massless link "world" if a joint names it as its parent and the document does not declare it. */
void declare_world(reader *r);

/* Returns the name of an element that is understood, such as "joint"; "document" outside of all. */
const char *element_name(element e);

/* Begins a link, a joint or a constraint with the name in its attributes. */
void begin_subject(reader *r, const char *kind, const char **attributes);

/* Returns whether an element has occurred in the current link, joint or constraint. */
bool has_seen(const reader *r, element e);

/* Stops reading with an error that the builder has set. */
void reader_stop(reader *r, dyn_status status);

/* attributes.c: values of attributes. `attributes` alternates names and values and ends with NULL. */

/* Sets the reader's error with the current line, unless it has one, and stops reading. */
void reader_fail(reader *r, dyn_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* States that the reader's error is about a bound: that of "name" or "depth", in site.argument. */
void reader_name_bound(const reader *r, const char *bound);

/* Adds an entry to the report with the current line and subject. */
void reader_report(reader *r, dyn_severity severity, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Return the current line of the document, and the current column, which both begin with 1. */
int reader_line(const reader *r);
int reader_column(const reader *r);

/* Returns the value of an attribute, or NULL. */
const char *attribute_text(const char **attributes, const char *name);

/* Reads `count` numbers from an attribute. Returns false, and leaves `values` unchanged, when the attribute is missing
 * or, with the reader's error set, invalid. */
bool attribute_numbers(reader *r, const char *tag, const char **attributes, const char *name, int count,
                       double *values);

/* Reads `count` numbers from an attribute as attribute_numbers does. A missing attribute is an error. */
void attribute_required(reader *r, const char *tag, const char **attributes, const char *name, int count,
                        double *values);

/* Copies the name that an attribute holds to `copy`; a missing, empty or too long one is an error. */
void attribute_name(reader *r, const char *tag, const char **attributes, const char *name, char copy[DYN_MAX_NAME + 1]);

/* Reads position and rotation from xyz and rpy of an <origin>; each that is missing is zero. */
void attribute_origin(reader *r, const char **attributes, double position[3], double rotation[9]);

/* ignored.c: elements that are not understood. */

/* Records an ignored element or attribute, described by a printf-style text, with the reason; `why` must be a literal.
 */
void ignore(reader *r, dyn_severity severity, const char *why, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Writes the ignored kinds to the report, one entry each. */
void ignored_report(reader *r);

/* Frees a list of ignored kinds. */
void ignored_clear(ignored_list *list);

#endif
