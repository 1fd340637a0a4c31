/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * URDF reader: fills a builder from the events of expat.
 */
#include <string.h>

#include "../model/error.h"
#include "constraint_elements.h"
#include "reader.h"

/* Every handler checks the status, because expat may report the end of an empty element after reading was stopped. */
static void on_start(void *data, const char *name, const char **attributes) {
    reader *r = data;
    if (r->status == DYN_OK) {
        element_open(r, name, attributes);
    }
}

static void on_end(void *data, const char *name) {
    (void)name;
    reader *r = data;
    if (r->status == DYN_OK) {
        element_close(r);
    }
}

static void on_text(void *data, const char *text, int length) {
    reader *r = data;
    element in = r->depth > 0 ? r->open[r->depth - 1] : ELEMENT_DOCUMENT;
    if (r->status != DYN_OK || in == ELEMENT_IGNORED) {
        return;
    }
    for (int i = 0; i < length; i++) {
        if (!strchr(" \t\r\n", text[i])) {
            ignore(r, DYN_SEVERITY_WARNING, "URDF has no text there", "text in <%s>", element_name(in));
            return;
        }
    }
}

static void on_doctype(void *data, const char *name, const char *system_id, const char *public_id, int internal) {
    (void)name, (void)system_id, (void)public_id, (void)internal;
    reader_fail(data, DYN_INVALID_ARGUMENT,
                "the document has a DOCTYPE, which is refused since entities can grow without bound; remove it");
}

/* Sets the error for a stop by expat itself. */
static void fail_with_syntax(reader *r) {
    enum XML_Error code = XML_GetErrorCode(r->parser);
    if (code == XML_ERROR_NO_MEMORY) {
        reader_fail(r, DYN_RESOURCE_EXHAUSTED, "out of memory");
    }
    reader_fail(r, DYN_INVALID_ARGUMENT, "this is not well-formed XML: %s, column %d", XML_ErrorString(code),
                reader_column(r));
}

/* Parses the text with expat, which calls the reader's handlers. */
static void parse(reader *r, const prologue *p) {
    if (p->encoding && XML_SetEncoding(r->parser, p->encoding) != XML_STATUS_OK) {
        reader_fail(r, DYN_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
    if (XML_Parse(r->parser, p->text, (int)p->length, XML_TRUE) != XML_STATUS_OK) {
        fail_with_syntax(r);
    }
}

/* Reads the whole text with an initialized reader. */
static void read_document(reader *r, const char *text, size_t length) {
    prologue p = {.text = text, .length = length};
    prologue_read(r, &p);
    if (r->status == DYN_OK) {
        parse(r, &p);
    }
    if (r->status == DYN_OK) {
        declare_world(r);
        complete_constraints(r);
    }
    ignored_report(r);
    if (r->status == DYN_OK && report_is_incomplete(r->report)) {
        r->status = dyn_error_memory(r->error);
    }
}

dyn_status dyn_urdf_read(const char *text, size_t length, dyn_report *report, dyn_builder **builder, dyn_error *error) {
    *builder = NULL;
    if (!text || length == 0) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "urdf", "the document is empty");
    }
    if (length > DYN_URDF_MAX_BYTES) {
        return dyn_error_set(error, DYN_RESOURCE_EXHAUSTED, "urdf", "the document has %zu bytes; at most %d are read",
                             length, DYN_URDF_MAX_BYTES);
    }
    reader r = {.report = report, .error = error};
    r.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    r.parser = XML_ParserCreate(NULL);
    if (r.plain == (locale_t)0 || !r.parser) {
        r.status = dyn_error_memory(error);
    } else {
        read_document(&r, text, length);
    }
    if (r.status == DYN_OK) {
        *builder = r.builder;
    } else {
        dyn_builder_free(r.builder);
    }
    ignored_clear(&r.ignored);
    couplings_clear(&r.couplings);
    if (r.parser) {
        XML_ParserFree(r.parser);
    }
    if (r.plain != (locale_t)0) {
        freelocale(r.plain);
    }
    return r.status;
}

dyn_status dyn_urdf_load(const char *text, size_t length, const dyn_build_options *options, dyn_report *report,
                         dyn_model **model, dyn_error *error) {
    dyn_report *own = NULL;
    dyn_builder *builder = NULL;
    *model = NULL;
    if (!report && dyn_report_create(&own) != DYN_OK) {
        return dyn_error_memory(error);
    }
    dyn_report *used = report ? report : own;
    dyn_status status = dyn_urdf_read(text, length, used, &builder, error);
    if (status == DYN_OK) {
        status = dyn_builder_build(builder, options, used, model, error);
    }
    dyn_builder_free(builder);
    dyn_report_free(own);
    return status;
}
