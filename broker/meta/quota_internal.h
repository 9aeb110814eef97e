/*
 * quota_internal.h - what changing and finding quotas share; private to quota_admin and quota_find
 */
#pragma once

#include "broker/meta/quota_admin.h"
#include "common/conf/conf.h"

#define QUOTA_USER   "user"
#define QUOTA_CLIENT "client-id"
#define QUOTA_IP     "ip"

/* The keys of users and clients, or of addresses; the former with the credentials of users, which
 * stand in the same znodes. */
extern const struct conf_option quota_client_keys[];
extern const struct conf_option quota_ip_keys[];
enum { QUOTA_CLIENT_KEYS = 4, QUOTA_IP_KEYS = 1 };

/* A name as it stands in a path; "<default>" for null. */
struct str quota_name_encode(struct arena *a, struct str name);
/* Null for "<default>". -EINVAL. */
int quota_name_decode(struct arena *a, struct str text, struct str *ret) MUST_CHECK;
