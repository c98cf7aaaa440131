/** What tests of webhooks ask of the operator's interface, and what they read of what arrived. */
import { expect, vi } from "@effect/vitest"
import type { Account, Stage } from "../../src/conformance/Stage.ts"
import { type Arrival, type Inbox, jsonOf, type Receiver, type Script } from "../../src/Receiver.ts"
import * as Calls from "./calls.ts"

/** An endpoint. */
export interface Endpoint {
  readonly id: string
  readonly url: string
  readonly types: ReadonlyArray<string> | null
  readonly status: string
  readonly created_at: string
  readonly secret_created_at: string
}

/** An endpoint and the secret that was issued for it. */
export interface Issued extends Endpoint {
  readonly secret: string
}

/** An event for an endpoint. */
export interface Delivery {
  readonly id: string
  readonly event_id: string
  readonly endpoint_id: string
  readonly type: string
  readonly status: string
  readonly failed_sends: number
  readonly created_at: string
  readonly due_at: string | null
}

/** A line of an endpoint's log. */
export interface Send {
  readonly delivery_id: string
  readonly type: string
  readonly attempt: number
  readonly at: string
  readonly duration_ms: number
  readonly http_status: number | null
  readonly reason: string
}

/** What a webhook says. */
export interface Body {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly data: { readonly generation: Calls.Job }
}

/** The operator's interface to an account's webhooks. */
export const admin = (
  stage: Stage,
  account: Account,
  method: string,
  path: string,
  body?: unknown
): Promise<Response> =>
  stage.admin(`/admin/v1/accounts/${account.id}${path}`, {
    method,
    ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
  })

/** The body of an answer that must have this status. */
const answered = async <Body>(response: Promise<Response>, status: number): Promise<Body> => {
  const answer = await response
  expect([answer.status, answer.ok ? "" : await answer.clone().text()]).toEqual([status, ""])
  return Calls.jsonOf<Body>(answer)
}

/** Asks for a new endpoint. */
export const register = (stage: Stage, account: Account, body: object): Promise<Response> =>
  admin(stage, account, "POST", "/webhook-endpoints", body)

/** A new endpoint. */
export const registered = (stage: Stage, account: Account, url: string, types?: ReadonlyArray<string>) =>
  answered<Issued>(register(stage, account, { url, ...(types !== undefined && { types }) }), 201)

/** An inbox of the receiver that is an endpoint of the account, and knows its secret. */
export interface Listening {
  readonly endpoint: Issued
  readonly inbox: Inbox
}

/** Registers a new inbox. */
export const listen = async (
  stage: Stage,
  account: Account,
  receiver: Receiver,
  options: { readonly script?: Script; readonly types?: ReadonlyArray<string> } = {}
): Promise<Listening> => {
  const inbox = receiver.inbox(options.script)
  const endpoint = await registered(stage, account, inbox.url, options.types)
  inbox.trust([endpoint.secret])
  return { endpoint, inbox }
}

const pathOf = ({ id }: Pick<Endpoint, "id">) => `/webhook-endpoints/${id}`

/** The endpoint as it is. */
export const endpoint = (stage: Stage, account: Account, of: Pick<Endpoint, "id">) =>
  answered<Endpoint>(admin(stage, account, "GET", pathOf(of)), 200)

/** Changes an endpoint. */
export const change = (stage: Stage, account: Account, of: Pick<Endpoint, "id">, to: object) =>
  answered<Endpoint>(admin(stage, account, "PATCH", pathOf(of), to), 200)

/** Issues a new secret. */
export const rotate = (stage: Stage, account: Account, of: Pick<Endpoint, "id">, body: object = {}) =>
  answered<Issued>(admin(stage, account, "POST", `${pathOf(of)}/rotate`, body), 200)

/** Sends a test event. */
export const test = (stage: Stage, account: Account, of: Pick<Endpoint, "id">) =>
  answered<Delivery>(admin(stage, account, "POST", `${pathOf(of)}/test`), 202)

/** Sends a delivery again. */
export const resend = (stage: Stage, account: Account, { id }: Pick<Delivery, "id">) =>
  answered<Delivery>(admin(stage, account, "POST", `/webhook-deliveries/${id}/resend`), 202)

/** The log of an endpoint, newest first. */
export const sends = async (stage: Stage, account: Account, of: Pick<Endpoint, "id">) => {
  const { data } = await answered<{ readonly data: ReadonlyArray<Send> }>(
    admin(stage, account, "GET", `${pathOf(of)}/sends`),
    200
  )
  return data
}

/** The newest deliveries of an endpoint, newest first. */
export const deliveries = async (stage: Stage, account: Account, of: Pick<Endpoint, "id">) => {
  const { data } = await answered<{ readonly data: ReadonlyArray<Delivery> }>(
    admin(stage, account, "GET", `${pathOf(of)}/deliveries?limit=100`),
    200
  )
  return data
}

/** The log once it is as the test wants it: a line is written a moment after the answer. */
export const sendsOnce = (
  stage: Stage,
  account: Account,
  of: Pick<Endpoint, "id">,
  isSo: (sends: ReadonlyArray<Send>) => boolean
): Promise<ReadonlyArray<Send>> =>
  once(stage, async () => {
    const found = await sends(stage, account, of)
    return isSo(found) ? found : undefined
  })

/** The delivery once it is as the test wants it. */
export const deliveryOnce = (
  stage: Stage,
  account: Account,
  { endpoint_id, id }: Pick<Delivery, "endpoint_id" | "id">,
  isSo: (delivery: Delivery) => boolean
): Promise<Delivery> =>
  once(
    stage,
    async () =>
      (await deliveries(stage, account, { id: endpoint_id })).find((delivery) => delivery.id === id && isSo(delivery))
  )

/** What there is as soon as it is there, without letting time pass where the test moves it. */
const once = async <A>(stage: Stage, find: () => Promise<A | undefined>): Promise<A> => {
  let found: A | undefined
  await vi.waitUntil(async () => {
    await stage.elapse(0)
    found = await find()
    return found !== undefined
  }, { timeout: 25_000, interval: 50 })
  if (found === undefined) throw new Error("Nothing was found")
  return found
}

/** What a webhook says. */
export const bodyOf = (arrival: Arrival): Body => jsonOf(arrival) as Body

/** The bodies of an inbox by type. */
export const byType = (arrivals: ReadonlyArray<Arrival>): Readonly<Record<string, Body>> =>
  Object.fromEntries(arrivals.map((arrival) => [bodyOf(arrival).type, bodyOf(arrival)]))

/** A job object without what differs between two that are made at different times: the lifetime of links. */
export const withoutSignatures = (job: Calls.Job) => {
  const bare = (url: string | null) => url === null ? null : new URL(url).origin + new URL(url).pathname
  const { output, poster_url, preview_url, thumb_url } = job
  return {
    ...job,
    output: output === null ? null : { ...output, url: bare(output.url), expires_at: null },
    preview_url: bare(preview_url),
    thumb_url: bare(thumb_url),
    poster_url: bare(poster_url)
  }
}
