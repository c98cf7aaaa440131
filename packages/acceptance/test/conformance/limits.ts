/** Rate limits and their headers. */
import { expect } from "@effect/vitest"
import type { Account, AccountOptions, Stage } from "../../src/conformance/Stage.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"

/** An account with a tier, its plan group, creations per minute and running jobs. */
const tiers = {
  "plans-and-credits.studioStarter": [{ studio: "starter" }, "studio", 20, 1],
  "plans-and-credits.studioPro": [{ studio: "pro" }, "studio", 40, 2],
  "plans-and-credits.studioScale": [{ studio: "scale" }, "studio", 80, 4],
  "plans-and-credits.creditsStarter": [{ credits: "starter" }, "credits", 30, 2],
  "plans-and-credits.creditsPro": [{ credits: "pro" }, "credits", 60, 4],
  "plans-and-credits.creditsBusiness": [{ credits: "business" }, "credits", 120, 8],
  "plans-and-credits.free": [{ credits: null }, "credits", 10, 1]
} as const satisfies Readonly<Record<string, readonly [AccountOptions, string, number, number]>>

const headersOf = (response: Response) =>
  ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"].map((name) => response.headers.get(name))

const whole = expect.stringMatching(/^\d+$/)

export const limits = (define: Define): void => {
  full(define)
  byTier(define)
  headers(define)
}

const full = ({ inTime }: Define): void => {
  inTime("rate-limits.key", async (stage) => {
    const account = await stage.openAccount()
    const paths = ["/v1/models", "/v1/account", "/v1/usage", "/v1/generations", "/v1/models/nobody"]
    for (const n of Calls.numbers(300)) {
      const response = await account.send(paths[n % paths.length] ?? "/v1/models")
      expect(response.status).not.toBe(429)
      await response.text()
    }
    await stage.advance("12600 millis")
    for (const path of ["/v1/models", "/v1/account"]) {
      const refused = await account.send(path)
      expect(Calls.retryOf(refused)).toEqual({ seconds: 48, millis: 47_400 })
      const { details, plan } = await Calls.refusalOf(refused, 429, "rate_limited")
      expect([details["scope"], plan]).toEqual(["key", null])
    }
    await stage.advance("47400 millis")
    expect((await account.send("/v1/models")).status).toBe(200)
  })

  inTime(["rate-limits.plan", "errors.retryAfter"], async (stage) => {
    const account = await stage.openAccount({ credits: null })
    for (const n of Calls.numbers(5)) {
      await Calls.createJob(account, { model: "fails", params: { prompt: `lake ${n}` } })
      // Both endpoints share the limit.
      expect((await Calls.image(account, { prompt: `lake ${n}` })).status).toBe(200)
    }
    await stage.advance("30 seconds")
    for (const refused of [await Calls.create(account), await Calls.image(account)]) {
      expect(Calls.retryOf(refused)).toEqual({ seconds: 30, millis: 30_000 })
      const { details, plan } = await Calls.refusalOf(refused, 429, "rate_limited")
      expect([details["scope"], plan]).toEqual(["plan", "credits"])
    }
    expect((await Calls.create(account, { plan: "studio" })).status).toBe(201)
  })

  inTime("errors.retrySameKey", async (stage) => {
    const account = await stage.openAccount({ credits: null })
    for (const n of Calls.numbers(10)) {
      await Calls.createJob(account, { model: "fails", params: { prompt: `lake ${n}` } })
    }
    const wish = { headers: { "idempotency-key": "tried again" } }
    const refused = await Calls.create(account, wish)
    await stage.advance(Calls.retryOf(refused).millis)
    await Calls.refusalOf(refused, 429, "rate_limited")
    const [accepted, repeated] = [await Calls.create(account, wish), await Calls.create(account, wish)]
    expect([accepted.status, repeated.status, await Calls.creditsOf(account)]).toEqual([201, 200, 996])
  })

  inTime(["rate-limits.windows", "rate-limit-headers.reset", "errors.retryAfter"], async (stage) => {
    const account = await stage.openAccount()
    await stage.advance("59900 millis")
    await account.send("/v1/models")
    const refused = await account.send("/v1/models")
    // Whole seconds, at least one.
    expect(Calls.retryOf(refused)).toEqual({ seconds: 1, millis: 100 })
    expect(Calls.limitOf(refused)).toEqual({ limit: 1, remaining: 0, reset: Date.UTC(2030, 0, 1, 0, 1) / 1_000 })
    await stage.advance("100 millis")
    const accepted = await account.send("/v1/models")
    expect([accepted.status, Calls.limitOf(accepted).reset]).toEqual([200, Date.UTC(2030, 0, 1, 0, 2) / 1_000])
  }, { http: { keyRequestsPerMinute: 1 } })
}

const byTier = ({ inTime }: Define): void => {
  for (const [id, [options, plan, perMinute, atOnce]] of Object.entries(tiers)) {
    // `Object.entries` widens the keys to `string`.
    inTime(id as keyof typeof tiers, async (stage) => {
      const account = await stage.openAccount(options)
      const running = []
      for (const n of Calls.numbers(atOnce + 1)) {
        running.push((await Calls.createJob(account, { plan, model: "slow", params: { prompt: `${n}` } })).status)
      }
      expect(running).toEqual([...Array<string>(atOnce).fill("queued"), "pending"])
      await stage.advance("1 minute")
      for (const n of Calls.numbers(perMinute)) {
        // Rejected for its price or its quota, and counted nevertheless.
        const response = await Calls.create(account, { plan, model: "paused", params: { prompt: `${n}` } })
        expect([response.status, Calls.limitOf(response).limit]).toEqual([503, perMinute])
      }
      await Calls.refusalOf(await Calls.create(account, { plan, model: "paused" }), 429, "rate_limited")
    })
  }
}

const headers = ({ holds, inTime }: Define): void => {
  holds(["rate-limit-headers.headers", "rate-limit-headers.remaining", "rate-limit-headers.reset"], async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.completed(account)
    const responses = [
      await account.send("/v1/models"),
      await account.send("/v1/account"),
      await account.send("/v1/usage?from=wrong"),
      await account.send(`/v1/generations/${id}`),
      await account.send(`/v1/generations/${id}/content`),
      await account.send(`/v1/generations/${id}/content`, { method: "HEAD" }),
      await account.send("/v1/generations/nobody"),
      await account.send("/v1/nothing"),
      await account.send("/v1/models", { method: "DELETE" }),
      await Calls.cancel(account, id),
      await Calls.create(account, { model: "nobody" }),
      await account.post("/v1/generations", "{")
    ]
    for (const response of responses) {
      expect([response.url, headersOf(response)]).toEqual([response.url, [whole, whole, whole]])
    }
  })

  holds("rate-limit-headers.describe", async (stage) => {
    const account = await stage.openAccount({ studio: "scale", credits: "starter" })
    const limits = [
      await Calls.create(account, { plan: "studio" }),
      await Calls.create(account),
      // The plan group is known, so the headers describe it.
      await Calls.create(account, { model: "nobody" }),
      await Calls.image(account),
      await account.send("/v1/models"),
      // The plan group is not known yet.
      await account.post("/v1/generations", "{")
    ].map((response) => Calls.limitOf(response).limit)
    expect(limits).toEqual([80, 30, 30, 30, 300, 300])
  })

  holds("rate-limit-headers.anonymous", async (stage) => {
    for (const path of ["/v1/models", "/v1/nothing", "/nothing"]) {
      const response = await stage.send(path)
      expect(Calls.limitOf(response)).toEqual({ limit: 60, remaining: expect.any(Number), reset: expect.any(Number) })
    }
    const account = await stage.openAccount()
    const { output } = await Calls.completed(account)
    expect(Calls.limitOf(await stage.send(output.url)).limit).toBe(60)
  })

  holds(["rate-limit-headers.unrouted", "rate-limit-headers.unroutedAnonymous"], async (stage) => {
    const account = await stage.openAccount()
    const unrouted = [["GET", "/v1/nothing"], ["DELETE", "/v1/models"], ["GET", "/V1/models"]] as const
    for (const [method, path] of unrouted) {
      const response = await account.send(path, { method })
      expect([path, response.status]).toEqual([path, method === "GET" ? 404 : 405])
      expect(Calls.limitOf(response).limit).toBe(300)
      expect(Calls.limitOf(await stage.send(path, { method })).limit).toBe(60)
    }
  })

  inTime(["rate-limit-headers.unrouted", "rate-limit-headers.unroutedAnonymous"], async (stage) => {
    const account = await stage.openAccount()
    for (const _ of Calls.numbers(61)) expect((await stage.send("/v1/nothing")).status).toBe(404)
    for (const _ of Calls.numbers(12)) expect((await account.send("/v1/nothing")).status).toBe(404)
    for (const path of ["/v1/nothing", "/v1/models"]) {
      const refused = await account.send(path)
      expect((await Calls.refusalOf(refused, 429, "rate_limited")).details["scope"]).toBe("key")
    }
  }, { http: { keyRequestsPerMinute: 12 } })

  inTime("rate-limit-headers.unroutedWrong", async (stage) => {
    const headers = { authorization: "Bearer nobody" }
    for (const n of Calls.numbers(60)) {
      const response = await stage.send("/v1/nothing", { headers })
      expect([response.status, Calls.limitOf(response).remaining]).toEqual([404, 59 - n])
    }
    const refused = await stage.send("/v1/models", { method: "DELETE", headers })
    expect((await Calls.refusalOf(refused, 429, "rate_limited")).details["scope"]).toBe("auth")
  })

  holds("rate-limit-headers.none", async (stage) => {
    for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"]) {
      const response = await stage.send(path)
      await response.text()
      expect([path, headersOf(response)]).toEqual([path, [null, null, null]])
    }
  })

  inTime("rate-limits.downloads", async (stage) => {
    const scopeOf = async (response: Response, code: string) =>
      (await Calls.refusalOf(response, 429, code)).details["scope"]
    const account = await stage.openAccount({ credits: null })
    expect(await scopeOf(await overKey(account), "rate_limited")).toBe("key")
    expect(await scopeOf(await overAddress(stage), "rate_limited")).toBe("auth")
    const other = await stage.openAccount({ credits: null })
    for (const n of Calls.numbers(10)) await Calls.create(other, { model: "fails", params: { prompt: `${n}` } })
    expect(await scopeOf(await Calls.create(other), "rate_limited")).toBe("plan")
  }, { http: { keyRequestsPerMinute: 12 } })

  holds(["errors.retryAfterMs", "errors.shouldRetry"], async (stage) => {
    const account = await stage.openAccount()
    const paused = await Calls.create(account, { model: "paused" })
    expect(paused.status).toBe(503)
    Calls.retryOf(paused)
    const { id } = await Calls.completed(account)
    const refused = await Calls.cancel(account, id)
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([409, "false"])
  })
}

const overKey = async (account: Account): Promise<Response> => {
  for (const _ of Calls.numbers(12)) await account.send("/v1/models")
  return account.send("/v1/models")
}

const overAddress = async (stage: Stage): Promise<Response> => {
  for (const _ of Calls.numbers(60)) await stage.send("/v1/models")
  return stage.send("/v1/models")
}
