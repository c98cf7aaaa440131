/**
 * API keys, members and webhook endpoints of an account: the session's own, or any account for operators. `account` is `null` for the
 * session's own.
 */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import { call } from "./call.ts"
import type { RequestOf } from "./contract.ts"
import type { Member } from "./types.ts"

/** The id of an account, or `null` for that of the session. */
export type Owner = string | null

type KeyRequest = RequestOf<"POST /console/v1/keys">["payload"]
type InviteRequest = RequestOf<"POST /console/v1/members">["payload"]
type KeyChange = RequestOf<"PATCH /console/v1/keys/:id">["payload"]
type EndpointRequest = RequestOf<"POST /console/v1/webhook-endpoints">["payload"]
type EndpointChange = RequestOf<"PATCH /console/v1/webhook-endpoints/:id">["payload"]

/** The API keys. */
export const keysQuery = (owner: Owner) =>
  queryOptions({
    queryKey: ["keys", owner],
    queryFn: ({ signal }) =>
      owner === null
        ? call("GET /console/v1/keys", {}, { signal })
        : call("GET /admin/v1/accounts/:id/keys", { params: { id: owner } }, { signal })
  })

/** Creates an API key. */
export const createKey = (owner: Owner, payload: KeyRequest) =>
  owner === null
    ? call("POST /console/v1/keys", { payload })
    : call("POST /admin/v1/accounts/:id/keys", { params: { id: owner }, payload })

/** Changes the name or the limits of an API key that are given. */
export const changeKey = (owner: Owner, key: string, payload: KeyChange) =>
  owner === null
    ? call("PATCH /console/v1/keys/:id", { params: { id: key }, payload })
    : call("PATCH /admin/v1/accounts/:id/keys/:key_id", { params: { id: owner, key_id: key }, payload })

/** Replaces an API key. The former one stays valid for a while. */
export const rollKey = (owner: Owner, key: string, overlap_seconds: number) =>
  owner === null
    ? call("POST /console/v1/keys/:id/roll", { params: { id: key }, payload: { overlap_seconds } })
    : call("POST /admin/v1/accounts/:id/keys/:key_id/roll", {
      params: { id: owner, key_id: key },
      payload: { overlap_seconds }
    })

/** Revokes an API key. */
export const revokeKey = (owner: Owner, key: string) =>
  owner === null
    ? call("DELETE /console/v1/keys/:id", { params: { id: key } })
    : call("DELETE /admin/v1/accounts/:id/keys/:key_id", { params: { id: owner, key_id: key } })

/** The members. */
export const membersQuery = (owner: Owner) =>
  queryOptions({
    queryKey: ["members", owner],
    queryFn: ({ signal }) =>
      owner === null
        ? call("GET /console/v1/members", {}, { signal })
        : call("GET /admin/v1/accounts/:id/members", { params: { id: owner } }, { signal })
  })

/** Invites a person. The response has a sign-in link. */
export const inviteMember = (owner: Owner, payload: InviteRequest) =>
  owner === null
    ? call("POST /console/v1/members", { payload })
    : call("POST /admin/v1/accounts/:id/members", { params: { id: owner }, payload })

/** Changes the role of a member, whose sessions end. */
export const changeMember = (owner: Owner, member: string, role: Member["role"]) =>
  owner === null
    ? call("PATCH /console/v1/members/:id", { params: { id: member }, payload: { role } })
    : call("PATCH /admin/v1/accounts/:id/members/:member_id", {
      params: { id: owner, member_id: member },
      payload: { role }
    })

/** Creates a sign-in link of a member. */
export const createMemberLink = (owner: Owner, member: string) =>
  owner === null
    ? call("POST /console/v1/members/:id/sign-in-links", { params: { id: member } })
    : call("POST /admin/v1/accounts/:id/members/:member_id/sign-in-links", { params: { id: owner, member_id: member } })

/** Removes a member, and optionally the API keys that the member has created. */
export const removeMember = (owner: Owner, member: string, revokesKeys: boolean) => {
  const query = { revoke_keys: revokesKeys ? "true" : "false" } as const
  return owner === null
    ? call("DELETE /console/v1/members/:id", { params: { id: member }, query })
    : call("DELETE /admin/v1/accounts/:id/members/:member_id", { params: { id: owner, member_id: member }, query })
}

/** The webhook endpoints. */
export const endpointsQuery = (owner: Owner) =>
  queryOptions({
    queryKey: ["endpoints", owner],
    queryFn: ({ signal }) =>
      owner === null
        ? call("GET /console/v1/webhook-endpoints", {}, { signal })
        : call("GET /admin/v1/accounts/:id/webhook-endpoints", { params: { id: owner } }, { signal })
  })

/** Creates a webhook endpoint. */
export const createEndpoint = (owner: Owner, payload: EndpointRequest) =>
  owner === null
    ? call("POST /console/v1/webhook-endpoints", { payload })
    : call("POST /admin/v1/accounts/:id/webhook-endpoints", { params: { id: owner }, payload })

/** Changes a webhook endpoint. */
export const changeEndpoint = (id: string, payload: EndpointChange) =>
  call("PATCH /console/v1/webhook-endpoints/:id", { params: { id }, payload })

/** A webhook endpoint of the session's account. */
export const endpointQuery = (id: string) =>
  queryOptions({
    queryKey: ["endpoint", id],
    queryFn: ({ signal }) => call("GET /console/v1/webhook-endpoints/:id", { params: { id } }, { signal })
  })

/**
 * The last 20 attempts to send an event to an endpoint. Updates twice a second until the delivery `awaited` has one, which
 * usually takes less than a second.
 */
export const sendsQuery = (id: string, awaited?: string) =>
  queryOptions({
    queryKey: ["sends", id],
    queryFn: ({ signal }) => call("GET /console/v1/webhook-endpoints/:id/sends", { params: { id } }, { signal }),
    refetchInterval: ({ state }) =>
      awaited === undefined || state.data?.data.some(({ delivery_id }) => delivery_id === awaited) ? 5_000 : 500
  })

/** A delivery with its body. */
export const deliveryQuery = (endpoint: string, id: string) =>
  queryOptions({
    queryKey: ["deliveries", endpoint, id],
    queryFn: ({ signal }) =>
      call("GET /console/v1/webhook-endpoints/:id/deliveries/:delivery_id", {
        params: { id: endpoint, delivery_id: id }
      }, { signal })
  })

/** Sends the failed deliveries of events since a time again. */
export const resendFailed = (endpoint: string, since: string) =>
  call("POST /console/v1/webhook-endpoints/:id/resend-failed", { params: { id: endpoint }, payload: { since } })

const deliveriesPerPage = 50

/** The deliveries of an endpoint, newest first. */
export const deliveriesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["deliveries", id],
    queryFn: ({ pageParam, signal }) =>
      call("GET /console/v1/webhook-endpoints/:id/deliveries", {
        params: { id },
        query: { limit: String(deliveriesPerPage), ...(pageParam === undefined ? {} : { before: pageParam }) }
      }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ data }) => data.length < deliveriesPerPage ? undefined : data.at(-1)?.id,
    refetchInterval: 10_000
  })
