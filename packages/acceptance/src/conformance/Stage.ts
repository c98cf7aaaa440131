/** The service as conformance cases see it: a client's and an operator's view over HTTP, and accounts to use it. */
import type { Duration } from "effect"
import * as RawHttp from "../RawHttp.ts"
import type { Receiver } from "../Receiver.ts"
import type { Wish } from "../Receivers.ts"

/** Where cases run: in this process in virtual time, or on a server with a database. */
export type Host = "memory" | "PGlite" | "Postgres"

/** A running service. As a client, it sends no key. */
export interface Stage extends RawHttp.RawClient {
  readonly host: Host
  /** Origin of its links. */
  readonly baseUrl: string
  /** Sends the operator's token. */
  readonly admin: RawHttp.RawClient
  /** Opens an account. */
  readonly openAccount: (options?: AccountOptions) => Promise<Account>
  /** A client without a key that sends over a socket, from the trusted proxy 127.0.0.1. */
  readonly overSocket: () => Promise<RawHttp.RawClient>
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

/** An account and its first key. As a client, it sends this key. */
export interface Account extends RawHttp.RawClient {
  readonly id: string
  readonly email: string
  readonly key: string
  readonly keyId: string
}

/** Operator token of every stage. */
export const adminToken = "the-operator-of-a-stage-on-which-the-interface-is-held-to-its-word"

/** Origin whose scripts may call `/v1` of every stage. */
export const corsOrigin = "https://app.example.com"

/** Proxies whose `X-Forwarded-For` every stage trusts. */
export const trustedProxies = "127.0.0.0/8"

/** Opens accounts through the operator API. Throws if the service rejects a request. */
export const makeOpenAccount = (
  { admin, now, withToken }: Pick<Stage, "admin" | "now" | "withToken">
): Stage["openAccount"] => {
  let opened = 0
  const ask = async (method: string, path: string, json: object): Promise<Record<string, string>> =>
    JSON.parse(await RawHttp.sendAccepted(admin, `/admin/v1${path}`, { method, json }))

  return async ({ credits = "pro", lots, planHours = yearHours, studio = "pro" } = {}) => {
    opened++
    const hence = (hours: number) => new Date(now().getTime() + hours * 3_600_000).toISOString()
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
    return { ...withToken(key), id, email, key, keyId }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const yearHours = 365 * 24
