/** The service as a whole: addresses, version, health and documents. */
import { expect, vi } from "@effect/vitest"
import { Effect } from "effect"
import { corsOrigin } from "../../src/conformance/Stage.ts"
import * as RawHttp from "../../src/RawHttp.ts"
import * as Calls from "./calls.ts"
import type { Job } from "./calls.ts"
import type { Define } from "./Suite.ts"

export const service = ({ holds, inTime, onServers }: Define): void => {
  holds("overview.asynchronous", async (stage) => {
    const account = await stage.openAccount()
    const created = await Calls.createJob(account)
    expect(created.status).toBe("queued")
    const { output, status } = await Calls.awaitEnd(account, created.id)
    expect(status).toBe("completed")
    expect((await account.send(output?.url ?? "/nothing")).status).toBe(200)
  })

  holds("conventions.spellings", async (stage) => {
    const account = await stage.openAccount()
    expect((await account.send("/v1/models")).status).toBe(200)
    for (const path of ["/V1/models", "/v1/models/", "/v1//models", "/v1/models;x", "/v1/%6dodels", "//v1/models"]) {
      await Calls.refusalOf(await account.send(path), 404, "not_found")
    }
  })

  holds(["conventions.compression", "conventions.notCompressed"], async (stage) => {
    const account = await stage.openAccount()
    const client = (await stage.overSocket()).withToken(account.key)
    const get = (path: string, encodings: string, method = "GET") =>
      client.send(path, { method, headers: { "accept-encoding": encodings } })
    const { id } = await Calls.completed(account)
    await Promise.all(
      Calls.numbers(3).map((n) => Calls.completed(account, { params: { prompt: `lake ${n} `.repeat(100) } }))
    )
    const path = "/v1/generations"
    const plain = await get(path, "identity")
    const text = await plain.text()
    expect(plain.headers.get("content-encoding")).toBe(null)
    expect(Number(plain.headers.get("content-length"))).toBeGreaterThan(4_096)
    for (const [encodings, expected] of [["gzip", "gzip"], ["br, gzip;q=0", "br"], ["gzip;q=0", null]] as const) {
      const response = await get(path, encodings)
      expect([encodings, response.headers.get("content-encoding")]).toEqual([encodings, expected])
      expect(response.headers.get("vary")).toContain("Accept-Encoding")
      expect((await response.text()).length).toBe(text.length)
      const head = await get(path, encodings, "HEAD")
      expect(head.headers.get("content-encoding")).toBe(expected)
    }
    for (const short of [`/v1/generations/${id}`, `/v1/generations/${id}/content`, `/v1/generations/${id}/events`]) {
      expect((await get(short, "gzip")).headers.get("content-encoding")).toBe(null)
    }
    const image = await Calls.image(client, { response_format: "b64_json" }, { "accept-encoding": "gzip" })
    expect([image.status, image.headers.get("content-encoding")]).toEqual([200, null])
    expect((await image.text()).length).toBeGreaterThan(4_096)
  })

  onServers(["conventions.absolute", "conventions.host"], async (stage) => {
    const account = await stage.openAccount()
    const send = (request: Partial<RawHttp.BytesRequest>) =>
      Effect.runPromise(RawHttp.sendBytes(stage.baseUrl, {
        method: "GET",
        target: "/v1/models",
        ...request,
        headers: [["authorization", `Bearer ${account.key}`], ...request.headers ?? []]
      }))
    expect((await send({ target: "http://example.com/v1/models" })).status).toBe(200)
    expect((await send({ target: "http://example.com/V1/models" })).status).toBe(404)
    const { id } = await Calls.createJob(account)
    await Calls.awaitEnd(account, id)
    const job = await send({ target: `http://example.com/v1/generations/${id}` })
    expect(JSON.parse(job.bytes.toString())).toMatchObject({
      output: { url: expect.stringContaining(`http://example.com/v1/generations/${id}/content?`) }
    })
    const invalid = [
      { host: null },
      { host: "a b" },
      { headers: [["host", "127.0.0.1"]] },
      { target: "http://example.com/v1/models", host: null },
      { method: "CONNECT", target: "example.com:443" }
    ] as const
    for (const request of invalid) {
      const { bytes, headers, status } = await send(request)
      expect([request, status, headers["connection"]]).toEqual([request, 400, "close"])
      expect(JSON.parse(bytes.toString())).toMatchObject({ error: { code: "invalid_request", details: {} } })
    }
  })

  holds(["scripts.listed", "scripts.allowed"], async (stage) => {
    const account = await stage.openAccount()
    const headersFor = async (origin: string, path: string) =>
      (await account.send(path, { headers: { origin } })).headers
    for (const path of ["/v1/models", "/v1/generations/nobody", "/v1/nothing"]) {
      const allowed = await headersFor(corsOrigin, path)
      expect(allowed.get("access-control-allow-origin")).toBe(corsOrigin)
      expect(allowed.get("vary")).toMatch(/^Origin\b/)
      const exposed = (allowed.get("access-control-expose-headers") ?? "").split(", ")
      for (const name of ["X-RateLimit-Remaining", "Location", "Retry-After", "X-Request-Id"]) {
        expect(exposed).toContain(name)
      }
      const other = await headersFor(`${corsOrigin}.example.net`, path)
      expect(other.get("access-control-allow-origin")).toBe(null)
      expect(other.get("vary")).toMatch(/^Origin\b/)
    }
    expect((await headersFor(corsOrigin, "/healthz")).get("access-control-allow-origin")).toBe(null)
  })

  holds(["scripts.preflight", "scripts.credentials"], async (stage) => {
    const asked = { "access-control-request-method": "POST", "access-control-request-headers": "authorization" }
    const preflight = (path: string, origin: string) =>
      stage.send(path, { method: "OPTIONS", headers: { ...asked, origin } })
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
      const response = await account.send(`/v1/${path}`)
      expect(response.headers.get("content-type")).toMatch(/^application\/json\b/)
      expect(await response.json()).toEqual(expect.any(Object))
    }
    const form = await account.post("/v1/generations", "plan=credits", {
      "content-type": "application/x-www-form-urlencoded"
    })
    await Calls.refusalOf(form, 415, "unsupported_media_type")
  })

  holds(["conventions.version", "health.openapi"], async (stage) => {
    const response = await stage.send("/openapi.json")
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
    await Calls.refusalOf(await account.send("/models"), 404, "not_found")
  })

  holds("health.healthz", async (stage) => {
    const response = await stage.send("/healthz")
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }])
  })

  holds("health.readyz", async (stage) => {
    // The cases beside this one can occupy the database for the 2 seconds after which a server is not ready.
    await vi.waitFor(async () => {
      const response = await stage.send("/readyz")
      expect([response.status, await response.json()]).toEqual([200, { status: "ready" }])
    }, { timeout: 60_000 })
  })

  holds("metrics.metrics", async (stage) => {
    const response = await stage.send("/metrics")
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringMatching(/^text\/plain\b/)
    ])
    expect(await response.text()).toMatch(/^# (HELP|TYPE) /m)
  })

  holds("health.docs", async (stage) => {
    const response = await stage.send("/docs")
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringMatching(/^text\/html\b/)
    ])
    expect(await response.text()).toContain("API reference")
    const listed = await stage.send("/docs/documents.json")
    expect(await listed.json()).toContainEqual(expect.objectContaining({ url: "/openapi.json" }))
  })

  holds("health.start", async (stage) => {
    const { headers, status } = await stage.send("/", { redirect: "manual" })
    expect([status, new URL(headers.get("location") ?? "", stage.baseUrl).pathname]).toEqual([302, "/docs"])
  })

  holds("health.cached", async (stage) => {
    const plain = await stage.send("/openapi.json", { method: "HEAD", headers: { "accept-encoding": "gzip;q=0" } })
    expect([plain.headers.get("cache-control"), plain.headers.get("content-encoding")]).toEqual([
      "public, max-age=300",
      null
    ])
    const gzip = await stage.send("/openapi.json", { method: "HEAD", headers: { "accept-encoding": "gzip" } })
    expect([gzip.headers.get("content-encoding"), gzip.headers.get("vary")]).toEqual(["gzip", "Accept-Encoding"])
    for (const { headers } of [plain, gzip]) {
      const again = await stage.send("/openapi.json", { headers: { "if-none-match": headers.get("etag") ?? "" } })
      expect([again.status, await again.text()]).toEqual([304, ""])
    }
  })

  holds("health.page", async (stage) => {
    const { headers } = await stage.send("/docs", { method: "HEAD" })
    expect(headers.get("cache-control")).toBe("no-cache")
    const again = await stage.send("/docs", { headers: { "if-none-match": headers.get("etag") ?? "" } })
    expect([again.status, await again.text()]).toEqual([304, ""])
    const script = /\/docs\/assets\/[\w.-]+\.js/.exec(await (await stage.send("/docs")).text())?.[0] ?? ""
    for (const encoding of ["br", "gzip"]) {
      const file = await stage.send(script, { method: "HEAD", headers: { "accept-encoding": encoding } })
      expect([file.headers.get("content-encoding"), file.headers.get("cache-control")]).toEqual([
        encoding,
        "public, max-age=31536000, immutable"
      ])
    }
  })

  holds("health.policy", async (stage) => {
    const { headers } = await stage.send("/docs", { method: "HEAD" })
    const policy = headers.get("content-security-policy") ?? ""
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; /)
    expect(policy).toContain("connect-src 'self'")
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
