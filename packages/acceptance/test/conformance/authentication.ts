/** Authentication, and the limit of failed attempts. */
import { expect } from "@effect/vitest"
import type { RawClient } from "../../src/RawHttp.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"

/** A request from this address. */
const from = (client: RawClient, address: string) =>
  client.send("/v1/models", { headers: { "x-forwarded-for": address } })

export const authentication = (define: Define): void => {
  keys(define)
  restrictedKeys(define)
}

const keys = ({ holds, inTime }: Define): void => {
  holds(["authentication.bearer", "authentication.unauthorized"], async (stage) => {
    const account = await stage.openAccount()
    const statusOf = async (authorization: string) =>
      (await stage.send("/v1/models", { headers: { authorization } })).status
    expect(await statusOf(`Bearer ${account.key}`)).toBe(200)
    expect(await statusOf(`bearer ${account.key}`)).toBe(200)
    const wrong = ["", "Bearer", "Bearer ", `Basic ${account.key}`, account.key, `Bearer ${account.key}x`]
    for (const authorization of wrong) {
      expect([authorization, await statusOf(authorization)]).toEqual([authorization, 401])
    }
    expect((await stage.send(`/v1/models?api_key=${account.key}`)).status).toBe(401)
  })

  holds("authentication.key", async (stage) => {
    const { key } = await stage.openAccount()
    expect(key).toMatch(/^kin_[0-9A-Za-z]{49}$/)
    const statusOf = async (key: string) =>
      (await stage.send("/v1/models", { headers: { authorization: `Bearer ${key}` } })).status
    const changed = key.slice(0, 10) + (key[10] === "a" ? "b" : "a") + key.slice(11)
    expect([await statusOf(key), await statusOf(changed)]).toEqual([200, 401])
  })

  holds("authentication.revoked", async (stage) => {
    const account = await stage.openAccount()
    expect((await account.send("/v1/models")).status).toBe(200)
    const path = `/admin/v1/accounts/${account.id}/keys/${account.keyId}`
    expect((await stage.admin.send(path, { method: "DELETE" })).status).toBe(204)
    const until = stage.now().getTime() + 5_000
    let status = 200
    while (status === 200 && stage.now().getTime() < until) {
      await stage.elapse("1 second")
      status = (await account.send("/v1/models")).status
    }
    expect(status).toBe(401)
  })

  inTime("authentication.limit", async (stage) => {
    for (const n of Calls.numbers(60)) {
      const response = await stage.send("/v1/models")
      expect(Calls.limitOf(response)).toMatchObject({ limit: 60, remaining: 59 - n })
      await Calls.refusalOf(response, 401, "unauthorized")
    }
    await stage.advance("20 seconds")
    const refused = await stage.send("/v1/models")
    expect(Calls.retryOf(refused)).toEqual({ seconds: 40, millis: 40_000 })
    expect((await Calls.refusalOf(refused, 429, "rate_limited")).details["scope"]).toBe("auth")
    await stage.advance("40 seconds")
    await Calls.refusalOf(await stage.send("/v1/models"), 401, "unauthorized")
  })

  inTime("authentication.others", async (stage) => {
    const account = await stage.openAccount()
    for (const _ of Calls.numbers(61)) await stage.send("/v1/models")
    await Calls.refusalOf(await stage.send("/v1/models"), 429, "rate_limited")
    expect((await account.send("/v1/models")).status).toBe(200)
  })

  holds("authentication.forwarded", async (stage) => {
    const client = await stage.overSocket()
    await Calls.inOneMinute(stage, async (attempt) => {
      const remainingOf = async (address: string) => Calls.limitOf(await from(client, address)).remaining
      const [one, other] = [`203.0.113.${attempt}`, `203.0.113.${100 + attempt}`]
      expect(await remainingOf(one)).toBe(59)
      expect(await remainingOf(other)).toBe(59)
      // The proxy ignores what a client writes before its own address.
      expect(await remainingOf(`198.51.100.9, ${one}`)).toBe(58)
      expect(await remainingOf(`198.51.100.10, ${one}, 127.0.0.2`)).toBe(57)
    })
  })

  holds("authentication.ipv6", async (stage) => {
    const client = await stage.overSocket()
    await Calls.inOneMinute(stage, async (attempt) => {
      const remainingOf = async (address: string) => Calls.limitOf(await from(client, address)).remaining
      const network = `2001:db8:${attempt}:2`
      expect(await remainingOf(`${network}::1`)).toBe(59)
      expect(await remainingOf(`${network}:ffff::9`)).toBe(58)
      expect(await remainingOf(`2001:db8:${attempt}:3::1`)).toBe(59)
    })
  })
}

const restrictedKeys = ({ holds, inTime }: Define): void => {
  holds("authentication.terms", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.jsonOf<Calls.Job>(await Calls.create(account))
    const requests = {
      generate: [
        (holder: RawClient) => Calls.create(holder),
        (holder) => Calls.image(holder, { plan: "credits" }),
        (holder) => holder.post(`/v1/generations/${id}/cancel`),
        (holder) => holder.post("/v1/uploads"),
        (holder) => holder.send("/v1/uploads/nothing", { method: "DELETE" })
      ],
      read: ["models", "generations", `generations/${id}`, `generations/${id}/events`, `generations/${id}/content`].map(
        (path) => (holder) => holder.send(`/v1/${path}`)
      ),
      "account:read": ["account", "usage"].map((path) => (holder) => holder.send(`/v1/${path}`)),
      webhooks: [
        (holder) => holder.send("/console/v1/webhook-endpoints"),
        (holder) => holder.post("/console/v1/webhook-endpoints", { url: "not a URL" })
      ]
    } satisfies Record<string, ReadonlyArray<(holder: RawClient) => Promise<Response>>>
    for (const allowed of Object.keys(requests)) {
      const holder = await Calls.restricted(account, stage, { scopes: [allowed] })
      for (const [scope, sends] of Object.entries(requests)) {
        for (const send of sends) {
          const response = await send(holder)
          if (scope === allowed) {
            expect([401, 403]).not.toContain(response.status)
            await response.body?.cancel()
          } else {
            expect((await Calls.refusalOf(response, 403, "scope_missing")).details).toEqual({ scope })
          }
        }
      }
    }

    const drawer = await Calls.restricted(account, stage, { models: ["picture"] })
    expect((await Calls.create(drawer, { params: { prompt: "a drawing" } })).status).toBe(201)
    await Calls.refusalOf(await Calls.create(drawer, { model: "film" }), 403, "model_not_allowed")

    const { key } = await Calls.restricted(account, stage, { ip_ranges: ["192.0.2.0/24", "2001:db8::1"] })
    const office = (await stage.overSocket()).withToken(key)
    for (const address of ["192.0.2.77", "2001:db8::1"]) expect((await from(office, address)).status).toBe(200)
    for (const address of ["192.0.3.1", "2001:db8::2"]) {
      await Calls.refusalOf(await from(office, address), 403, "address_not_allowed")
    }
  })

  inTime("authentication.terms", async (stage) => {
    const account = await stage.openAccount()
    const expiresAt = new Date(stage.now().getTime() + 60_000).toISOString()
    const holder = await Calls.restricted(account, stage, { expires_at: expiresAt })
    await stage.advance("59 seconds")
    expect((await holder.send("/v1/models")).status).toBe(200)
    await stage.advance("1 second")
    const { details } = await Calls.refusalOf(await holder.send("/v1/models"), 401, "key_expired")
    expect(details).toEqual({ expired_at: expiresAt })
  })
}
