/*
 * dispatch.h - from a frame to a request with its handler
 *
 * Header, then API and version, then the body by the API's tables. Whatever is not understood
 * closes the connection, as Kafka does; only ApiVersions is answered in any version (KIP-511).
 * Thread: the connection's.
 */
#pragma once

#include "broker/server/conn.h"

/*
 * Makes the request, in an arena of the set, which takes over the reference of buf. -EBADMSG, or
 * -EPROTONOSUPPORT for an API or version that is not served. Nothing is left behind on failure.
 */
int dispatch_decode(struct conn *c, struct buf *buf, struct slice frame, struct request **ret)
    MUST_CHECK;
/* Calls the handler. The request may be answered, and gone, afterwards. */
void dispatch_run(struct conn *c, struct request *req);
