/** Requests to the operator API for webhooks, and readers of received webhooks. */
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

/** A delivery: one event for one endpoint. */
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

/** An entry of the send log. */
export interface Send {
  readonly delivery_id: string
  readonly type: string
  readonly attempt: number
  readonly at: string
  readonly duration_ms: number
  readonly http_status: number | null
  readonly reason: string
}

/** Body of a webhook. */
export interface Body {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly data: { readonly generation: Calls.Job }
}

/** Sends a request about an account's webhooks to the operator API. */
export const admin = (
  stage: Stage,
  account: Account,
  method: string,
  path: string,
  json?: unknown
): Promise<Response> => stage.admin.send(`/admin/v1/accounts/${account.id}${path}`, { method, json })

/** Body of a response, which must have this status. */
const answered = async <Body>(response: Promise<Response>, status: number): Promise<Body> => {
  const answer = await response
  expect([answer.status, answer.ok ? "" : await answer.clone().text()]).toEqual([status, ""])
  return Calls.jsonOf<Body>(answer)
}

/** Sends a request to register an endpoint. */
export const register = (stage: Stage, account: Account, body: object): Promise<Response> =>
  admin(stage, account, "POST", "/webhook-endpoints", body)

/** Registers an endpoint. */
export const registered = (stage: Stage, account: Account, url: string, types?: ReadonlyArray<string>) =>
  answered<Issued>(register(stage, account, { url, ...(types !== undefined && { types }) }), 201)

/** An inbox that is registered as an endpoint and verifies with its secret. */
export interface Listening {
  readonly endpoint: Issued
  readonly inbox: Inbox
}

/** Registers a new inbox as an endpoint. */
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

/** Gets the endpoint. */
export const endpoint = (stage: Stage, account: Account, of: Pick<Endpoint, "id">) =>
  answered<Endpoint>(admin(stage, account, "GET", pathOf(of)), 200)

/** Changes the endpoint. */
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

/** Send log of an endpoint, newest first. */
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

/** Returns the send log once the condition holds. An entry is written shortly after the response. */
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

/** Returns the delivery once the condition holds. */
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

/** Polls until there is a result. Does not advance virtual time. */
const once = async <A>(stage: Stage, find: () => Promise<A | undefined>): Promise<A> => {
  let found: A | undefined
  await vi.waitUntil(async () => {
    await stage.elapse(0)
    found = await find()
    return found !== undefined
  }, { timeout: 60_000, interval: 50 })
  if (found === undefined) throw new Error("Nothing was found")
  return found
}

/** Body of a webhook. */
export const bodyOf = (arrival: Arrival): Body => jsonOf(arrival) as Body

/** Bodies of an inbox by event type. */
export const byType = (arrivals: ReadonlyArray<Arrival>): Readonly<Record<string, Body>> =>
  Object.fromEntries(arrivals.map((arrival) => [bodyOf(arrival).type, bodyOf(arrival)]))

/** Completes a job and returns it as its webhook contains it. */
export const announced = async (stage: Stage, account: Account): Promise<Calls.Job> => {
  await using receiver = await stage.receive()
  const { inbox } = await listen(stage, account, receiver, { types: ["generation.completed"] })
  await Calls.completed(account)
  const [arrival] = await inbox.until(1)
  if (arrival === undefined) throw new Error("The webhook has not arrived")
  return bodyOf(arrival).data.generation
}

/** A job without the parts of its URLs that depend on the time. */
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
