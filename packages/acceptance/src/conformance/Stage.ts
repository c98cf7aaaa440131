/** The service as conformance cases see it: a client's and an operator's view over HTTP, and accounts to use it. */
import type { Duration } from "effect"
import type { Receiver } from "../Receiver.ts"
import type { Wish } from "../Receivers.ts"

/** Where cases run: in this process in virtual time, or on a server with a database. */
export type Host = "memory" | "PGlite" | "Postgres"

/** `fetch` with paths relative to the server's base URL. */
export type Fetch = (path: string, init?: RequestInit) => Promise<Response>

/** A running service. */
export interface Stage {
  readonly host: Host
  /** Origin of its links. */
  readonly baseUrl: string
  /** Without a key. */
  readonly fetch: Fetch
  /** With the operator's token. */
  readonly admin: Fetch
  /** Opens an account. */
  readonly openAccount: (options?: AccountOptions) => Promise<Account>
  /** Without a key, over a socket, from the trusted proxy 127.0.0.1. */
  readonly overSocket: () => Promise<Fetch>
  /**
   * Starts a receiver of webhooks that the server trusts and can reach. Timestamps are verified at the time of the
   * server.
   */
  readonly receive: (wish?: Wish) => Promise<Receiver>
  /** Time of the server. */
  readonly now: () => Date
  /**
   * Advances time in memory. On a server, time passes by itself: the call returns at once, and the case awaits what is
   * due, for about a second at most.
   */
  readonly elapse: (duration: Duration.Input) => Promise<void>
}

/** A service in virtual time. */
export interface MemoryStage extends Stage {
  /** Advances time. Everything that is due happens before the call returns. */
  readonly advance: (duration: Duration.Input) => Promise<void>
}

/** Credits of an account. */
export interface LotOptions {
  readonly kind: "plan" | "addon" | "trial" | "refund"
  readonly credits: number
  /** Hours until they expire. */
  readonly hours: number
  readonly imagesOnly?: boolean
}

/** Plans and credits of an account. `null`: no plan in this group. */
export interface AccountOptions {
  /** Default `pro`. */
  readonly studio?: "starter" | "pro" | "scale" | null
  /** Default `pro`. */
  readonly credits?: "starter" | "pro" | "business" | null
  /** Default: one lot of kind `addon` with 1,000 credits that expires with the plans. */
  readonly lots?: ReadonlyArray<LotOptions>
  /** Hours until the plans end. Default 365 days. */
  readonly planHours?: number
}

/** An account and its first key. */
export interface Account {
  readonly id: string
  readonly email: string
  readonly key: string
  readonly keyId: string
  /** With the account's key, unless the request has an `Authorization` header. */
  readonly fetch: Fetch
}

/** Operator token of every stage. */
export const adminToken = "the-operator-of-a-stage-on-which-the-interface-is-held-to-its-word"

/** Origin whose scripts every stage lets call `/v1`. */
export const corsOrigin = "https://app.example.com"

/** Proxies whose `X-Forwarded-For` every stage trusts. */
export const trustedProxies = "127.0.0.0/8"

/** A `fetch` that sends this bearer token. */
export const withToken = (fetch: Fetch, token: string): Fetch => (path, init = {}) => {
  const headers = new Headers(init.headers)
  if (!headers.has("authorization")) headers.set("authorization", `Bearer ${token}`)
  return fetch(path, { ...init, headers })
}

/** Opens accounts through the operator API. Throws if the service rejects a request. */
export const makeOpenAccount = (stage: Pick<Stage, "admin" | "fetch" | "now">): Stage["openAccount"] => {
  let opened = 0
  const ask = async (method: string, path: string, body: object): Promise<Record<string, string>> => {
    const response = await stage.admin(`/admin/v1${path}`, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }

  return async ({ credits = "pro", lots, planHours = yearHours, studio = "pro" } = {}) => {
    opened++
    const hence = (hours: number) => new Date(stage.now().getTime() + hours * 3_600_000).toISOString()
    const email = `stage-${opened}@example.com`
    const { id = "" } = await ask("POST", "/accounts", { email })
    const { id: keyId = "", key = "" } = await ask("POST", `/accounts/${id}/keys`, { name: "conformance" })
    for (const [group, tier] of [["studio", studio], ["credits", credits]] as const) {
      if (tier !== null) {
        await ask("PUT", `/accounts/${id}/plans/${group}`, { tier, period_end: hence(planHours), auto_renew: false })
      }
    }
    for (const [n, lot] of (lots ?? [{ kind: "addon", credits: 1_000, hours: planHours }]).entries()) {
      await ask("POST", `/accounts/${id}/lots`, {
        reference: `lot ${n}`,
        kind: lot.kind,
        credits: lot.credits,
        expires_at: hence(lot.hours),
        images_only: "imagesOnly" in lot && lot.imagesOnly
      })
    }
    return { id, email, key, keyId, fetch: withToken(stage.fetch, key) }
  }
}

/**
 * Gives each request without `X-Forwarded-For` its own client address, so that cases on one host do not use up
 * each other's failed authentications. The addresses are reserved for benchmarks (RFC 2544).
 */
export const makeFromOwnAddress = (): (init?: RequestInit) => RequestInit => {
  let count = 0
  return (init = {}) => {
    const headers = new Headers(init.headers)
    if (!headers.has("x-forwarded-for")) {
      count++
      headers.set("x-forwarded-for", `198.18.${count >> 8}.${count & 255}`)
    }
    return { ...init, headers }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const yearHours = 365 * 24
