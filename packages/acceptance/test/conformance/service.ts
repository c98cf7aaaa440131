/** The service as a whole: addresses, version, health and documents. */
import { expect } from "@effect/vitest"
import { corsOrigin } from "../../src/conformance/Stage.ts"
import * as Calls from "./calls.ts"
import type { Job } from "./calls.ts"
import type { Define } from "./Suite.ts"

export const service = ({ holds, inTime }: Define): void => {
  holds("overview.asynchronous", async (stage) => {
    const account = await stage.openAccount()
    const created = await Calls.createJob(account)
    expect(created.status).toBe("queued")
    const { output, status } = await Calls.awaitEnd(account, created.id)
    expect(status).toBe("completed")
    expect((await account.fetch(output?.url ?? "/nothing")).status).toBe(200)
  })

  holds("conventions.spellings", async (stage) => {
    const account = await stage.openAccount()
    expect((await account.fetch("/v1/models")).status).toBe(200)
    for (const path of ["/V1/models", "/v1/models/", "/v1//models", "/v1/models;x", "/v1/%6dodels", "//v1/models"]) {
      await Calls.refusalOf(await account.fetch(path), 404, "not_found")
    }
  })

  holds(["scripts.listed", "scripts.allowed"], async (stage) => {
    const account = await stage.openAccount()
    const headersFor = async (origin: string, path: string) =>
      (await account.fetch(path, { headers: { origin } })).headers
    for (const path of ["/v1/models", "/v1/generations/nobody", "/v1/nothing"]) {
      const allowed = await headersFor(corsOrigin, path)
      expect([allowed.get("access-control-allow-origin"), allowed.get("vary")]).toEqual([corsOrigin, "Origin"])
      const exposed = (allowed.get("access-control-expose-headers") ?? "").split(", ")
      for (const name of ["X-RateLimit-Remaining", "Location", "Retry-After", "X-Request-Id"]) {
        expect(exposed).toContain(name)
      }
      const other = await headersFor(`${corsOrigin}.example.net`, path)
      expect([other.get("access-control-allow-origin"), other.get("vary")]).toEqual([null, "Origin"])
    }
    expect((await headersFor(corsOrigin, "/healthz")).get("access-control-allow-origin")).toBe(null)
  })

  holds(["scripts.preflight", "scripts.credentials"], async (stage) => {
    const asked = { "access-control-request-method": "POST", "access-control-request-headers": "authorization" }
    const preflight = (path: string, origin: string) =>
      stage.fetch(path, { method: "OPTIONS", headers: { ...asked, origin } })
    const { headers, status } = await preflight("/v1/generations", corsOrigin)
    expect([status, headers.get("access-control-allow-origin")]).toEqual([204, corsOrigin])
    expect(headers.get("access-control-allow-methods")?.split(", ").toSorted()).toEqual(["GET", "HEAD", "POST"])
    expect(headers.get("access-control-allow-headers")).toBe("authorization")
    expect(headers.get("access-control-max-age")).toBe("7200")
    expect(headers.get("access-control-allow-credentials")).toBe(null)
    const refused = await preflight("/v1/generations", "https://elsewhere.example.net")
    expect(refused.headers.get("access-control-allow-origin")).toBe(null)
    await Calls.refusalOf(refused, 405, "method_not_allowed")
    await Calls.refusalOf(await preflight("/v1/nothing", corsOrigin), 404, "not_found")
  })

  holds("conventions.json", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.completed(account)
    for (const path of ["models", "account", "usage", "generations", `generations/${id}`, "nothing"]) {
      const response = await account.fetch(`/v1/${path}`)
      expect(response.headers.get("content-type")).toMatch(/^application\/json\b/)
      expect(await response.json()).toEqual(expect.any(Object))
    }
    const form = await Calls.post(account, "/v1/generations", "plan=credits", {
      "content-type": "application/x-www-form-urlencoded"
    })
    await Calls.refusalOf(form, 415, "unsupported_media_type")
  })

  holds(["conventions.version", "health.openapi"], async (stage) => {
    const response = await stage.fetch("/openapi.json")
    const document = await Calls.jsonOf<{
      readonly openapi: string
      readonly info: { readonly version: string }
      readonly paths: Readonly<Record<string, object>>
    }>(response)
    expect([response.status, document.openapi, document.info.version]).toEqual([
      200,
      expect.stringMatching(/^3\.1\./),
      "1.0.0"
    ])
    const paths = Object.keys(document.paths)
    expect(paths).toEqual(expect.arrayContaining(["/v1/generations", "/v1/images/generations", "/v1/account"]))
    expect(paths.filter((path) => !path.startsWith("/v1/")).toSorted()).toEqual(["/healthz", "/metrics", "/readyz"])
    const account = await stage.openAccount()
    await Calls.refusalOf(await account.fetch("/models"), 404, "not_found")
  })

  holds("health.healthz", async (stage) => {
    const response = await stage.fetch("/healthz")
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }])
  })

  holds("health.readyz", async (stage) => {
    const response = await stage.fetch("/readyz")
    expect([response.status, await response.json()]).toEqual([200, { status: "ready" }])
  })

  holds("metrics.metrics", async (stage) => {
    const response = await stage.fetch("/metrics")
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringMatching(/^text\/plain\b/)
    ])
    expect(await response.text()).toMatch(/^# (HELP|TYPE) /m)
  })

  holds("health.docs", async (stage) => {
    const response = await stage.fetch("/docs")
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringMatching(/^text\/html\b/)
    ])
    expect(await response.text()).toContain("/v1/generations")
  })

  holds("conventions.links", async (stage) => {
    const account = await stage.openAccount()
    const response = await Calls.create(account)
    const { id } = await Calls.jsonOf<Job>(response)
    const { output, thumb_url } = await Calls.awaitEnd(account, id)
    const { data } = await Calls.jsonOf<{ readonly data: ReadonlyArray<{ readonly url: string }> }>(
      await Calls.image(account)
    )
    for (const link of [response.headers.get("location"), output?.url, thumb_url, data[0]?.url]) {
      expect(new URL(link ?? "http://none").origin).toBe(stage.baseUrl)
    }
  })

  inTime("conventions.baseUrl", async (stage) => {
    const account = await stage.openAccount()
    const { output } = await Calls.completed(account)
    expect(new URL(output.url).origin).toBe("https://media.example.com")
    expect((await Calls.create(account, { model: "dear" })).headers.get("location")).toMatch(
      /^https:\/\/media\.example\.com\/v1\/generations\/gen_/
    )
  }, { http: { baseUrl: "https://media.example.com" } })
}
