/** A server of the part of Stripe's API that opens and reads Checkout sessions, with its checks of requests. */
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { json, type Received } from "./Listener.ts"
import { scripted } from "./ScriptedServer.ts"

/** A session, as the API returns it. */
export interface CheckoutSession {
  readonly id: string
  readonly object: "checkout.session"
  readonly mode: string
  readonly status: "open" | "complete" | "expired"
  readonly payment_status: "paid" | "unpaid" | "no_payment_required"
  readonly amount_total: number
  readonly currency: string
  readonly client_reference_id: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly payment_intent: { readonly id: string; readonly status: string } | null
  readonly success_url: string
  readonly cancel_url: string
  readonly url: string | null
  readonly expires_at: number
}

/** The secret key that the server accepts. */
export const secretKey = "sk_test_51KinoraScriptedServerSecretKey"

/** The version of the API that the server accepts. */
const apiVersion = "2026-10-28.endive"

/** Starts the server. `nowMillis` is its clock. */
export const stripeApi = Effect.fnUntraced(function*(nowMillis: () => number = () => 0) {
  const sessions = new Map<string, CheckoutSession>()
  const byKey = new Map<string, { readonly body: string; readonly id: string }>()

  const create = ({ body, headers }: Received, response: ServerResponse) => {
    const key = String(headers["idempotency-key"] ?? "")
    const earlier = byKey.get(key)
    if (earlier !== undefined) {
      if (earlier.body === String(body)) return json(response, 200, sessions.get(earlier.id))
      return refuse(response, 400, "idempotency_error", "Keys for idempotent requests need the same parameters")
    }
    const form = new URLSearchParams(String(body))
    const session = sessionOf(form, `cs_test_${sessions.size + 1}`, nowMillis())
    if (typeof session === "string") return refuse(response, 400, "invalid_request_error", session)
    sessions.set(session.id, session)
    if (key !== "") byKey.set(key, { body: String(body), id: session.id })
    json(response, 200, session)
  }

  const server = yield* scripted((request, response) => {
    const { headers, method, path } = request
    if (headers.authorization !== `Bearer ${secretKey}`) {
      return refuse(response, 401, "invalid_request_error", `Invalid API Key provided: ${headers.authorization}`)
    }
    if (headers["stripe-version"] !== apiVersion) {
      return refuse(response, 400, "invalid_request_error", "Invalid Stripe API version")
    }
    const { pathname, searchParams } = new URL(path, "http://localhost")
    if (method === "POST" && pathname === "/v1/checkout/sessions") {
      return headers["content-type"] === "application/x-www-form-urlencoded"
        ? create(request, response)
        : refuse(response, 400, "invalid_request_error", "Unsupported content type")
    }
    const session = sessions.get(pathname.slice("/v1/checkout/sessions/".length))
    if (method !== "GET" || session === undefined) {
      return refuse(response, 404, "invalid_request_error", "No such checkout.session", "resource_missing")
    }
    const { payment_intent: intent } = session
    const isExpanded = searchParams.getAll("expand[0]").includes("payment_intent")
    json(response, 200, isExpanded ? session : { ...session, payment_intent: intent?.id ?? null })
  })

  return {
    ...server,
    sessions,
    /** Changes a session, and returns it. */
    change: (id: string, changes: Partial<CheckoutSession>) => {
      const changed = { ...sessions.get(id)!, ...changes }
      sessions.set(id, changed)
      return changed
    }
  }
})

/** The changes of a session that was paid. */
export const paid: Partial<CheckoutSession> = {
  status: "complete",
  payment_status: "paid",
  url: null,
  payment_intent: { id: "pi_1", status: "succeeded" }
}

/** The body of a webhook. */
export const eventOf = (type: string, object: unknown): string =>
  JSON.stringify({ id: "evt_1", object: "event", api_version: apiVersion, type, livemode: false, data: { object } })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const refuse = (response: ServerResponse, status: number, type: string, message: string, code?: string) =>
  json(response, status, { error: { type, message, ...(code === undefined ? {} : { code }) } }, {
    "request-id": "req_1"
  })

/** Parses the form of a new session, or returns what is wrong with it. */
const sessionOf = (form: URLSearchParams, id: string, now: number): CheckoutSession | string => {
  const value = (name: string) => form.get(name) ?? ""
  const price = "line_items[0][price_data]"
  const cents = Number(value(`${price}[unit_amount]`))
  if (value("mode") !== "payment") return "Invalid mode"
  if (!Number.isInteger(cents) || cents < 50 || value("line_items[0][quantity]") !== "1") return "Invalid amount"
  if (value(`${price}[product_data][name]`) === "") return "Missing required param: product_data[name]"
  if (value("client_reference_id").length > 200) return "Invalid client_reference_id"
  const urls = { success_url: value("success_url"), cancel_url: value("cancel_url") }
  for (const [name, url] of Object.entries(urls)) if (!URL.canParse(url)) return `Not a valid URL: ${name}`
  return {
    id,
    object: "checkout.session",
    mode: "payment",
    status: "open",
    payment_status: "unpaid",
    amount_total: cents,
    currency: value(`${price}[currency]`),
    client_reference_id: form.get("client_reference_id"),
    metadata: Object.fromEntries(
      Array.from(form).flatMap(([name, text]) => {
        const key = /^metadata\[(.+)\]$/.exec(name)?.[1]
        return key === undefined ? [] : [[key, text]]
      })
    ),
    payment_intent: null,
    ...urls,
    url: `https://checkout.stripe.test/c/pay/${id}`,
    expires_at: Math.floor(now / 1_000) + 86_400
  }
}
