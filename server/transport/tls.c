/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads certificates for TLS, and finds the certificates of clients. */
#include "transport/tls.h"

#include <dlfcn.h>
#include <errno.h>
#include <mbedtls/error.h>
#include <mbedtls/md.h>
#include <mbedtls/oid.h>
#include <mbedtls/pk.h>
#include <mbedtls/ssl.h>
#include <mbedtls/version.h>
#include <mbedtls/x509_crt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/regular_file.h"
#include "transport/transit.h"

#define EXPORTED __attribute__((visibility("default")))

/* Largest file of certificates, and bytes of a fingerprint that stand for a name. */
enum { MOST_BYTES = 4 << 20, FINGERPRINT_BYTES = 8, HASH_BYTES = 32 };

static const char scheme[] = "tls+tcp://";

bool tls_is_address(const char *address) {
    return strncmp(address, scheme, sizeof scheme - 1) == 0;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Texts of the files. */
typedef struct pem {
    char *certificate, *key, *ca; /* ca: NULL where clients need no certificate */
} pem;

/* Reads a file. Returns NULL, with a sentence in `error`, where it cannot be read. */
static char *read_file(const char *path, char error[TRANSPORT_ERROR_SIZE]) {
    size_t length;
    char *text = regular_file_read(path, 0, MOST_BYTES, &length);
    if (!text) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "%.250s: %s", path, regular_file_error(errno));
    }
    return text;
}

/* Reads the key, which users of no group of the file must not be able to read. */
static char *read_key(const char *path, char error[TRANSPORT_ERROR_SIZE]) {
    struct stat status;
    if (stat(path, &status) == 0 && (status.st_mode & S_IRWXO)) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "%.250s: every user may read or write this key: chmod o= %.60s", path,
                 path);
        return NULL;
    }
    return read_file(path, error);
}

static void free_pem(pem *texts) {
    if (texts->key) {
        explicit_bzero(texts->key, strlen(texts->key));
    }
    free(texts->certificate);
    free(texts->key);
    free(texts->ca);
}

static bool read_pem(const transport_tls *from, pem *texts, char error[TRANSPORT_ERROR_SIZE]) {
    texts->certificate = read_file(from->certificate_file, error);
    texts->key = texts->certificate ? read_key(from->key_file, error) : NULL;
    texts->ca = texts->key && from->ca_file[0] ? read_file(from->ca_file, error) : NULL;
    return texts->key && (!from->ca_file[0] || texts->ca);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* Writes a sentence about a code of mbedTLS. Returns false. */
static bool refuse(const char *path, const char *sentence, int code, char error[TRANSPORT_ERROR_SIZE]) {
    char reason[100] = "";
    if (code != 0) {
        mbedtls_strerror(code, reason, sizeof reason);
    }
    snprintf(error, TRANSPORT_ERROR_SIZE, "%.200s: %s%s%s", path, sentence, code ? ": " : "", reason);
    return false;
}

#if MBEDTLS_VERSION_MAJOR >= 3
static int draw(void *context, unsigned char *bytes, size_t size) {
    (void)context;
    return getrandom(bytes, size, 0) == (ssize_t)size ? 0 : -1;
}
#endif

static int parse_key(mbedtls_pk_context *key, const char *text) {
    const unsigned char *bytes = (const unsigned char *)text;
#if MBEDTLS_VERSION_MAJOR >= 3
    return mbedtls_pk_parse_key(key, bytes, strlen(text) + 1, NULL, 0, draw, NULL);
#else
    return mbedtls_pk_parse_key(key, bytes, strlen(text) + 1, NULL, 0);
#endif
}

static int check_pair(const mbedtls_pk_context *certificate, const mbedtls_pk_context *key) {
#if MBEDTLS_VERSION_MAJOR >= 3
    return mbedtls_pk_check_pair(certificate, key, draw, NULL);
#else
    return mbedtls_pk_check_pair(certificate, key);
#endif
}

/* Checks the daemon's certificate, and that the key belongs to it. */
static bool check_own(const transport_tls *from, const pem *texts, mbedtls_x509_crt *certificate,
                      mbedtls_pk_context *key, char error[TRANSPORT_ERROR_SIZE]) {
    int code =
        mbedtls_x509_crt_parse(certificate, (const unsigned char *)texts->certificate, strlen(texts->certificate) + 1);
    if (code != 0) {
        return refuse(from->certificate_file, "this is no certificate in PEM", code > 0 ? 0 : code, error);
    }
    if (mbedtls_x509_time_is_past(&certificate->valid_to) || mbedtls_x509_time_is_future(&certificate->valid_from)) {
        return refuse(from->certificate_file, "the certificate has expired, or is not valid yet", 0, error);
    }
    code = parse_key(key, texts->key);
    if (code != 0) {
        return refuse(from->key_file, "this is no key in PEM without a password", code, error);
    }
    if (check_pair(&certificate->pk, key) != 0) {
        return refuse(from->key_file, "the key does not belong to the certificate in certificate_file", 0, error);
    }
    return true;
}

static bool check_files(const transport_tls *from, const pem *texts, char error[TRANSPORT_ERROR_SIZE]) {
    mbedtls_x509_crt certificate;
    mbedtls_pk_context key;
    mbedtls_x509_crt_init(&certificate);
    mbedtls_pk_init(&key);
    bool is_good = check_own(from, texts, &certificate, &key, error);
    mbedtls_x509_crt_free(&certificate);
    mbedtls_pk_free(&key);
    return is_good;
}

/* Hands the texts to nng. Returns nng's code. Revocation lists stand in the file of the authorities. */
static int fill(nng_tls_config *config, const pem *texts, bool requires_certificate) {
    int code = nng_tls_config_own_cert(config, texts->certificate, texts->key, NULL);
    if (code == 0 && texts->ca) {
        const char *revocations = strstr(texts->ca, "-----BEGIN X509 CRL-----") ? texts->ca : NULL;
        code = nng_tls_config_ca_chain(config, texts->ca, revocations);
    }
    if (code == 0 && texts->ca) {
        code = nng_tls_config_auth_mode(config,
                                        requires_certificate ? NNG_TLS_AUTH_MODE_REQUIRED : NNG_TLS_AUTH_MODE_OPTIONAL);
    }
    return code;
}

void tls_free(nng_tls_config *config) {
    if (config) {
        nng_tls_config_free(config);
    }
}

nng_tls_config *tls_load(const transport_tls *from, char error[TRANSPORT_ERROR_SIZE]) {
    pem texts = {0};
    nng_tls_config *config = NULL;
    bool is_good = read_pem(from, &texts, error) && check_files(from, &texts, error);
    if (is_good) {
        int code = nng_tls_config_alloc(&config, NNG_TLS_MODE_SERVER);
        code = code == 0 ? fill(config, &texts, from->requires_certificate) : code;
        if (code != 0) {
            snprintf(error, TRANSPORT_ERROR_SIZE, "TLS with %.120s and %.120s: %s", from->certificate_file,
                     from->ca_file[0] ? from->ca_file : "no ca_file", nng_strerror(code));
            tls_free(config);
            config = NULL;
        }
    }
    free_pem(&texts);
    return config;
}

/* ---- sessions ---------------------------------------------------------------------------------------------------- */

typedef int (*read_function)(mbedtls_ssl_context *session, unsigned char *bytes, size_t size);
typedef int (*write_function)(mbedtls_ssl_context *session, const unsigned char *bytes, size_t size);
typedef uint32_t (*verify_function)(const mbedtls_ssl_context *session);

/* Functions of mbedTLS itself. */
static struct {
    pthread_once_t once;
    read_function read;
    write_function write;
    verify_function verify;
} own = {.once = PTHREAD_ONCE_INIT};

/* Session of this thread's last question about a certificate. */
static _Thread_local const mbedtls_ssl_context *queried;

static void find(const char *name, void *function, size_t size) {
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, size);
}

static void find_own(void) {
    find("mbedtls_ssl_read", &own.read, sizeof own.read);
    find("mbedtls_ssl_write", &own.write, sizeof own.write);
    find("mbedtls_ssl_get_verify_result", &own.verify, sizeof own.verify);
}

EXPORTED uint32_t mbedtls_ssl_get_verify_result(const mbedtls_ssl_context *session) {
    pthread_once(&own.once, find_own);
    queried = session;
    return own.verify(session);
}

/* Reads a part of a message, unless the connection is being closed. */
EXPORTED int mbedtls_ssl_read(mbedtls_ssl_context *session, unsigned char *bytes, size_t size) {
    pthread_once(&own.once, find_own);
    int descriptor = transit_session_descriptor(session);
    if (!transit_may_read(descriptor, size)) {
        return MBEDTLS_ERR_SSL_CONN_EOF;
    }
    int count = own.read(session, bytes, size);
    transit_was_read(descriptor, size, count > 0 ? count : -1);
    return count;
}

EXPORTED int mbedtls_ssl_write(mbedtls_ssl_context *session, const unsigned char *bytes, size_t size) {
    pthread_once(&own.once, find_own);
    int count = own.write(session, bytes, size);
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
    const struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    transit_was_sent(transit_session_descriptor(session), &message, count);
    return count;
}

const void *tls_session(nng_pipe pipe) {
    bool is_verified;
    queried = NULL;
    int code = nng_pipe_get_bool(pipe, NNG_OPT_TLS_VERIFIED, &is_verified);
    return code == 0 ? queried : NULL;
}

/* Copies the only common name of a certificate, where it is a name. Returns false for any other. */
static bool copy_common_name(const mbedtls_x509_crt *certificate, char name[ACCESS_TOKEN_NAME + 1]) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const mbedtls_x509_buf *found = NULL;
    for (const mbedtls_x509_name *each = &certificate->subject; each; each = each->next) {
        if (MBEDTLS_OID_CMP(MBEDTLS_OID_AT_CN, &each->oid) == 0) {
            if (found) {
                return false;
            }
            found = &each->val;
        }
    }
    if (!found || found->len == 0 || found->len > ACCESS_TOKEN_NAME || memchr(found->p, '\0', found->len)) {
        return false;
    }
    memcpy(name, found->p, found->len);
    name[found->len] = '\0';
    return strspn(name, allowed) == found->len;
}

void tls_client_name(const void *session, char name[ACCESS_TOKEN_NAME + 1]) {
    const mbedtls_ssl_context *of = session;
    name[0] = '\0';
    pthread_once(&own.once, find_own);
    const mbedtls_x509_crt *certificate = of ? mbedtls_ssl_get_peer_cert(of) : NULL;
    if (!certificate || own.verify(of) != 0 || copy_common_name(certificate, name)) {
        return;
    }
    unsigned char hash[HASH_BYTES];
    mbedtls_md(mbedtls_md_info_from_type(MBEDTLS_MD_SHA256), certificate->raw.p, certificate->raw.len, hash);
    name[0] = '#';
    for (size_t i = 0; i < FINGERPRINT_BYTES; i++) {
        snprintf(name + 1 + 2 * i, 3, "%02x", hash[i]);
    }
}
