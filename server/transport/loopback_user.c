/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the system for the socket at the other end of a connection, and its user. */
#include "transport/loopback_user.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct question {
    struct nlmsghdr header;
    struct inet_diag_req_v2 body;
} question;

typedef struct answer {
    struct nlmsghdr header;
    struct inet_diag_msg body;
    char attributes[1024];
} answer;

static bool is_mapped(const struct in6_addr *address) {
    return IN6_IS_ADDR_V4MAPPED(address);
}

/* Copies a loopback address and its port. An IPv4 address in IPv6 becomes one of IPv4, as the other end has it. Returns
 * the family, or AF_UNSPEC for another address. */
static int copy_loopback(const struct sockaddr_storage *from, __be32 address[4], __be16 *port) {
    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;
        address[0] = v4->sin_addr.s_addr;
        *port = v4->sin_port;
        return ntohl(address[0]) >> 24 == 127 ? AF_INET : AF_UNSPEC;
    }
    if (from->ss_family != AF_INET6) {
        return AF_UNSPEC;
    }
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;
    *port = v6->sin6_port;
    if (is_mapped(&v6->sin6_addr)) {
        memcpy(&address[0], &v6->sin6_addr.s6_addr[12], sizeof address[0]);
        return ntohl(address[0]) >> 24 == 127 ? AF_INET : AF_UNSPEC;
    }
    memcpy(address, &v6->sin6_addr, sizeof v6->sin6_addr);
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) ? AF_INET6 : AF_UNSPEC;
}

/* Fills the question for the socket whose own end is the peer's. Returns false if the ends are not loopback ones. */
static bool ask_about(int descriptor, question *q) {
    struct sockaddr_storage near = {0}, far = {0};
    socklen_t near_size = sizeof near, far_size = sizeof far;
    if (getsockname(descriptor, (struct sockaddr *)&near, &near_size) != 0 ||
        getpeername(descriptor, (struct sockaddr *)&far, &far_size) != 0) {
        return false;
    }
    struct inet_diag_sockid *id = &q->body.id;
    int family = copy_loopback(&far, id->idiag_src, &id->idiag_sport);
    if (family == AF_UNSPEC || copy_loopback(&near, id->idiag_dst, &id->idiag_dport) != family) {
        return false;
    }
    id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    q->header = (struct nlmsghdr){
        .nlmsg_len = sizeof *q, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = 1};
    q->body.sdiag_family = (uint8_t)family;
    q->body.sdiag_protocol = IPPROTO_TCP;
    q->body.idiag_states = UINT32_MAX;
    return true;
}

bool loopback_user(int descriptor, uint32_t *user) {
    question q = {0};
    answer a = {0};
    if (!ask_about(descriptor, &q)) {
        return false;
    }
    int diagnosis = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    if (diagnosis < 0) {
        return false;
    }
    /* The system answers before `send` returns. */
    bool is_answered = send(diagnosis, &q, sizeof q, 0) == (ssize_t)sizeof q &&
                       recv(diagnosis, &a, sizeof a, 0) >= (ssize_t)(sizeof a.header + sizeof a.body) &&
                       a.header.nlmsg_type == SOCK_DIAG_BY_FAMILY;
    close(diagnosis);
    /* A socket that no process holds any more has no inode, and the system states root as its user. */
    *user = a.body.idiag_uid;
    return is_answered && a.body.idiag_inode != 0;
}
