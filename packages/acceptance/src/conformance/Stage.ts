/**
 * What a test of the interface has: a server that answers, and accounts of its own.
 * It knows of the product what a client and an operator can see over HTTP.
 */
import type { Duration } from "effect"
import type { Receiver } from "../Receiver.ts"
import type { Wish } from "../Receivers.ts"

/** Where the tests run: in this process and virtual time, or as a server on a database. */
export type Host = "memory" | "PGlite" | "Postgres"

/** `fetch` with paths that are relative to the server's base URL. */
export type Fetch = (path: string, init?: RequestInit) => Promise<Response>

/** A server. */
export interface Stage {
  readonly host: Host
  /** What links are on. */
  readonly baseUrl: string
  /** Without a key. */
  readonly fetch: Fetch
  /** With the operator's token. */
  readonly admin: Fetch
  /** Makes an account. */
  readonly openAccount: (options?: AccountOptions) => Promise<Account>
  /** Without a key and over a socket, from 127.0.0.1, which is a proxy that the server trusts. */
  readonly overSocket: () => Promise<Fetch>
  /** Starts a receiver of webhooks that the server trusts and reaches. Stamps are looked at by the server's time. */
  readonly receive: (wish?: Wish) => Promise<Receiver>
  /** The time that the server has. */
  readonly now: () => Date
  /**
   * Lets time pass in memory. On a server it passes by itself, so this returns at
   * once, and the test awaits what is due then: after a second or so, not more.
   */
  readonly elapse: (duration: Duration.Input) => Promise<void>
}

/** A server whose time the test moves. */
export interface MemoryStage extends Stage {
  /** Lets time pass; what is due on the way happens, and is over when this returns. */
  readonly advance: (duration: Duration.Input) => Promise<void>
}

/** Credits that an account is given. */
export interface LotOptions {
  readonly kind: "plan" | "addon" | "trial" | "refund"
  readonly credits: number
  /** How long they last, in hours. */
  readonly hours: number
  readonly imagesOnly?: boolean
}

/** What an account has. `null`: no plan in this group. */
export interface AccountOptions {
  /** Default `pro`. */
  readonly studio?: "starter" | "pro" | "scale" | null
  /** Default `pro`. */
  readonly credits?: "starter" | "pro" | "business" | null
  /** Default: one of kind `addon` with 1 000 credits that lasts as long as the plans. */
  readonly lots?: ReadonlyArray<LotOptions>
  /** How long the plans last. Default 365 days. */
  readonly planHours?: number
}

/** An account and its first key. */
export interface Account {
  readonly id: string
  readonly email: string
  readonly key: string
  readonly keyId: string
  /** With the account's key, unless the request has an `Authorization` of its own. */
  readonly fetch: Fetch
}

/** The operator's token of every stage. */
export const adminToken = "the-operator-of-a-stage-on-which-the-interface-is-held-to-its-word"

/** Whose `X-Forwarded-For` every stage believes. */
export const trustedProxies = "127.0.0.0/8"

/** A `fetch` that names itself by this bearer token. */
export const withToken = (fetch: Fetch, token: string): Fetch => (path, init = {}) => {
  const headers = new Headers(init.headers)
  if (!headers.has("authorization")) headers.set("authorization", `Bearer ${token}`)
  return fetch(path, { ...init, headers })
}

/** Makes accounts by the operator's interface. A refusal is a defect that shows it. */
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

/** Addresses of clients, a new one with each call, of those that nobody has (RFC 2544). */
export const makeAddresses = (): () => string => {
  let count = 0
  return () => {
    count++
    return `198.18.${count >> 8}.${count & 255}`
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const yearHours = 365 * 24
