/** Downloads: with a key, by a signed URL, whole or in part, and within limits. */
import { expect } from "@effect/vitest"
import type { Account, Stage } from "../../src/conformance/Stage.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"

const pathOf = (id: string) => `/v1/generations/${id}/content`

/** Replaces parameters of the URL's query; `undefined` removes one. */
const withQuery = (url: string, changes: Readonly<Record<string, string | undefined>>): string => {
  const changed = new URL(url)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) changed.searchParams.delete(name)
    else changed.searchParams.set(name, value)
  }
  return changed.href
}

const queryOf = (url: string, name: string) => new URL(url).searchParams.get(name) ?? ""

/** The text with another first character. */
const forged = (text: string) => (text.startsWith("A") ? "B" : "A") + text.slice(1)

export const content = (define: Define): void => {
  answers(define)
  pairs(define)
  states(define)
  files(define)
}

const answers = ({ holds }: Define): void => {
  holds(["results.whole", "results.content"], async (stage) => {
    const account = await stage.openAccount()
    const { id, output } = await Calls.completed(account)
    const response = await account.send(pathOf(id))
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"])
    expect(response.headers.get("content-length")).toBe("4096")
    expect((await response.bytes()).length).toBe(output.bytes)
  })

  holds("results.range", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.completed(account)
    const whole = await (await account.send(pathOf(id))).bytes()
    for (
      const [range, first, last] of [["bytes=0-99", 0, 99], ["bytes=4000-", 4000, 4095], [
        "bytes=-96",
        4000,
        4095
      ]] as const
    ) {
      const response = await account.send(pathOf(id), { headers: { range } })
      expect([response.status, response.headers.get("content-range")]).toEqual([206, `bytes ${first}-${last}/4096`])
      expect(await response.bytes()).toEqual(whole.subarray(first, last + 1))
    }
  })

  holds("results.several", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.completed(account)
    const response = await account.send(pathOf(id), { headers: { range: "bytes=0-1,4-5" } })
    expect([response.status, (await response.bytes()).length]).toEqual([200, 4096])
  })

  holds("results.unsatisfiable", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.completed(account)
    const response = await account.send(pathOf(id), { headers: { range: "bytes=4096-" } })
    expect(response.headers.get("content-range")).toBe("bytes */4096")
    await Calls.refusalOf(response, 416, "range_not_satisfiable")
  })

  holds("results.download", async (stage) => {
    const account = await stage.openAccount()
    const { id, output } = await Calls.completed(account)
    const dispositionOf = async (url: string) => (await account.send(url)).headers.get("content-disposition")
    expect(await dispositionOf(withQuery(output.url, { download: "1" }))).toMatch(/^attachment\b/)
    expect(await dispositionOf(`${pathOf(id)}?download=1`)).toMatch(/^attachment\b/)
    expect(await dispositionOf(`${pathOf(id)}?download=0`)).toMatch(/^inline\b/)
  })

  holds("results.disposition", async (stage) => {
    const account = await stage.openAccount()
    const [image, film] = [await Calls.completed(account), await Calls.completed(account, { model: "film" })]
    const dispositionOf = async (path: string) => (await account.send(path)).headers.get("content-disposition")
    expect(await dispositionOf(pathOf(image.id))).toBe(`inline; filename="${image.id}.png"`)
    expect(await dispositionOf(`${pathOf(film.id)}?download=1`)).toBe(`attachment; filename="${film.id}.mp4"`)
  })

  holds(["results.head", "download-limits.head"], async (stage) => {
    const account = await stage.openAccount()
    const { id, output } = await Calls.completed(account)
    for (const path of [pathOf(id), output.url]) {
      const [head, get] = [await account.send(path, { method: "HEAD" }), await account.send(path)]
      expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "4096", ""])
      for (const name of ["content-type", "etag", "last-modified", "accept-ranges", "content-disposition"]) {
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)])
      }
    }
    const statusOf = async (path: string) => (await stage.send(path, { method: "HEAD" })).status
    expect(await statusOf(pathOf(id))).toBe(401)
    expect(await statusOf(withQuery(output.url, { sig: forged(queryOf(output.url, "sig")) }))).toBe(401)
    const unfinished = await Calls.createJob(account, { model: "slow" })
    expect((await account.send(pathOf(unfinished.id), { method: "HEAD" })).status).toBe(409)
  })

  holds("errors.envelope", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account, { model: "slow" })
    const [head, get] = [await account.send(pathOf(id), { method: "HEAD" }), await account.send(pathOf(id))]
    // A response to HEAD has no body, but the headers of an error.
    expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([
      get.status,
      get.headers.get("content-type"),
      ""
    ])
    await Calls.refusalOf(get, 409, "result_not_ready")
  })

  holds("results.validators", async (stage) => {
    const account = await stage.openAccount()
    const { finished_at, id } = await Calls.completed(account)
    const { headers } = await account.send(pathOf(id))
    expect(headers.get("accept-ranges")).toBe("bytes")
    expect(headers.get("etag")).toMatch(/^"[^"]+"$/)
    const modified = Date.parse(headers.get("last-modified") ?? "")
    expect(Math.abs(modified - Date.parse(finished_at ?? ""))).toBeLessThan(1_000)
  })

  holds("results.notModified", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.completed(account)
    const etag = (await account.send(pathOf(id))).headers.get("etag") ?? ""
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const response = await account.send(pathOf(id), { headers: { "if-none-match": known } })
      expect([known, response.status, await response.text()]).toEqual([known, 304, ""])
    }
    expect((await account.send(pathOf(id), { headers: { "if-none-match": "\"other\"" } })).status).toBe(200)
  })

  holds(["results.ifMatch", "results.ifUnmodified"], async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.completed(account)
    const { headers } = await account.send(pathOf(id))
    const [etag, modified] = [headers.get("etag") ?? "", headers.get("last-modified") ?? ""]
    const earlier = new Date(Date.parse(modified) - 1_000).toUTCString()
    const met = [{ "if-match": `"other", ${etag}` }, { "if-match": "*" }, { "if-unmodified-since": modified }, {
      "if-match": etag,
      "if-unmodified-since": earlier
    }]
    for (const headers of met) expect((await account.send(pathOf(id), { headers })).status).toBe(200)
    for (
      const headers of [{ "if-match": "\"other\"" }, { "if-match": `W/${etag}` }, { "if-unmodified-since": earlier }]
    ) {
      await Calls.refusalOf(await account.send(pathOf(id), { headers }), 412, "precondition_failed")
    }
  })

  holds("results.ifRange", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.completed(account)
    const etag = (await account.send(pathOf(id))).headers.get("etag") ?? ""
    const statusOf = async (validator: string) =>
      (await account.send(pathOf(id), { headers: { "range": "bytes=0-9", "if-range": validator } })).status
    expect([await statusOf(etag), await statusOf("\"other\""), await statusOf(`W/${etag}`)]).toEqual([206, 200, 200])
  })

  holds("results.embedding", async (stage) => {
    const account = await stage.openAccount()
    const { output } = await Calls.completed(account)
    const { headers } = await stage.send(output.url)
    expect(headers.get("x-content-type-options")).toBe("nosniff")
    expect(headers.get("cross-origin-resource-policy")).toBe("cross-origin")
    expect(headers.get("access-control-allow-origin")).toBe("*")
  })

  holds(["results.scripts", "results.scriptErrors"], async (stage) => {
    const account = await stage.openAccount()
    const { id, output } = await Calls.completed(account)
    const origin = "https://elsewhere.example.net"
    const preflight = await stage.send(output.url, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": "if-match,if-none-match,if-range,range"
      }
    })
    expect([preflight.status, await preflight.text()]).toEqual([204, ""])
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*")
    expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, HEAD")
    expect(preflight.headers.get("access-control-allow-headers")).toBe("if-match,if-none-match,if-range,range")
    const refused = [
      await stage.send(pathOf(id), { headers: { origin } }),
      await stage.send(output.url, { headers: { origin, range: "bytes=4096-" } }),
      await account.send(pathOf("nobody"), { headers: { origin } })
    ]
    expect(refused.map(({ headers, status }) => [status, headers.get("access-control-allow-origin")])).toEqual([
      [401, "*"],
      [416, "*"],
      [404, "*"]
    ])
  })

  holds("results.cache", async (stage) => {
    const account = await stage.openAccount()
    const { output } = await Calls.completed(account)
    const control = (await stage.send(output.url)).headers.get("cache-control") ?? ""
    expect(control).toMatch(/^private, max-age=\d+$/)
    const left = (Date.parse(output.expires_at) - stage.now().getTime()) / 1_000
    expect(Math.abs(Number(control.replace(/\D/g, "")) - left)).toBeLessThan(30)
  })
}

const pairs = ({ holds, inTime, onPostgres }: Define): void => {
  holds(["results.pair", "authentication.signed", "signed-urls.without"], async (stage) => {
    const account = await stage.openAccount()
    const { output } = await Calls.completed(account)
    expect(queryOf(output.url, "exp")).toMatch(/^\d+$/)
    const response = await stage.send(output.url)
    expect([response.status, (await response.bytes()).length]).toEqual([200, output.bytes])
    expect((await stage.send(output.url, { headers: { range: "bytes=0-9" } })).status).toBe(206)
  })

  holds("signed-urls.binds", async (stage) => {
    const account = await stage.openAccount()
    const { output } = await Calls.completed(account)
    const other = await Calls.completed(account, { model: "dear" })
    expect((await stage.send(output.url, { method: "HEAD" })).status).toBe(200)
    const later = String(Number(queryOf(output.url, "exp")) + 60)
    await Calls.refusalOf(await stage.send(withQuery(output.url, { exp: later })), 401, "invalid_signature")
    const elsewhere = withQuery(other.output.url, {
      exp: queryOf(output.url, "exp"),
      sig: queryOf(output.url, "sig")
    })
    await Calls.refusalOf(await stage.send(elsewhere), 401, "invalid_signature")
    const thumb = output.url.replace("/content?", "/thumb?")
    await Calls.refusalOf(await stage.send(thumb), 401, "invalid_signature")
  })

  holds("signed-urls.wrong", async (stage) => {
    const account = await stage.openAccount()
    const { output } = await Calls.completed(account)
    const client = await stage.overSocket()
    await Calls.inOneMinute(stage, async (attempt) => {
      const headers = { "x-forwarded-for": `192.0.2.${attempt}` }
      const remaining = []
      for (const sig of [forged(queryOf(output.url, "sig")), "x", ""]) {
        const { pathname, search } = new URL(withQuery(output.url, { sig }))
        const response = await client.send(`${pathname}${search}`, { headers })
        remaining.push(Calls.limitOf(response).remaining)
        await Calls.refusalOf(response, 401, "invalid_signature")
      }
      expect(remaining).toEqual([59, 58, 57])
    })
  })

  onPostgres("signed-urls.keys", async (stage) => {
    const { first, second } = await stage.production()
    const account = await first.openAccount()
    const { id, output } = await Calls.completed(account)
    const signedBy = async (server: Stage) => {
      const { output } = await Calls.read(server.withToken(account.key), id)
      return new URL(output?.url ?? "http://none").search
    }
    const statusOf = async (server: Stage, query: string) => (await server.send(`${pathOf(id)}${query}`)).status
    expect(await statusOf(second, new URL(output.url).search)).toBe(200)
    const signedByNewer = await signedBy(second)
    expect(await statusOf(second, signedByNewer)).toBe(200)
    // The first server does not have the newer key.
    expect(await statusOf(first, signedByNewer)).toBe(401)
  })

  holds("signed-urls.half", async (stage) => {
    const account = await stage.openAccount()
    const { output } = await Calls.completed(account)
    for (const name of ["exp", "sig"]) {
      const response = await stage.send(withQuery(output.url, { [name]: undefined }))
      expect(response.status).toBe(400)
    }
  })

  holds("signed-urls.both", async (stage) => {
    const [account, other] = [await stage.openAccount(), await stage.openAccount()]
    const { output } = await Calls.completed(account)
    const wrong = withQuery(output.url, { sig: forged(queryOf(output.url, "sig")) })
    expect((await account.send(wrong)).status).toBe(200)
    expect((await stage.send(output.url, { headers: { authorization: "Bearer nobody" } })).status).toBe(200)
    expect((await other.send(output.url)).status).toBe(200)
    await Calls.refusalOf(await other.send(wrong), 404, "not_found")
  })

  inTime("signed-urls.gone", async (stage) => {
    const account = await stage.openAccount()
    const { output } = await Calls.completed(account)
    const lasts = Number(queryOf(output.url, "exp")) * 1_000 - stage.now().getTime()
    await stage.advance(lasts - 1_000)
    expect((await stage.send(output.url)).status).toBe(200)
    await stage.advance("2 seconds")
    await Calls.refusalOf(await stage.send(output.url), 410, "result_expired")
    expect((await stage.send(output.url, { method: "HEAD" })).status).toBe(410)
    const wrong = withQuery(output.url, { sig: forged(queryOf(output.url, "sig")) })
    await Calls.refusalOf(await stage.send(wrong), 401, "invalid_signature")
  })
}

const states = ({ holds, inTime }: Define): void => {
  holds("results.notReady", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account, { model: "slow" })
    await Calls.refusalOf(await account.send(pathOf(id)), 409, "result_not_ready")
  })

  holds("results.notFound", async (stage) => {
    const account = await stage.openAccount({ credits: null })
    const failed = await Calls.ended(account, { model: "fails" })
    await Calls.processing(account)
    const waiting = await Calls.createJob(account)
    await Calls.cancel(account, waiting.id)
    for (const { id } of [failed, waiting]) {
      await Calls.refusalOf(await account.send(pathOf(id)), 404, "result_not_found")
    }
  })

  holds(["identifiers.others", "results.unknown"], async (stage) => {
    const [account, other] = [await stage.openAccount(), await stage.openAccount()]
    const { id } = await Calls.completed(account)
    await Calls.refusalOf(await other.send(pathOf(id)), 404, "not_found")
    await Calls.refusalOf(await account.send(pathOf("gen_01q3dcbd00evhthzyyqsfhxazr")), 404, "not_found")
  })

  inTime(
    ["results.expired", "results.row"],
    async (stage) => {
      const account = await stage.openAccount()
      const { id } = await Calls.completed(account)
      await stage.advance({ hours: 23, minutes: 59, seconds: 59 })
      expect((await account.send(pathOf(id))).status).toBe(200)
      await stage.advance("1 second")
      for (const name of ["content", "preview", "thumb"]) {
        await Calls.refusalOf(await account.send(`/v1/generations/${id}/${name}`), 410, "result_expired")
      }
      await stage.advance("2 hours")
      await Calls.refusalOf(await account.send(pathOf(id)), 410, "result_expired")
      expect(await Calls.read(account, id)).toMatchObject({ status: "completed", output: null, prompt: "a lake" })
    }
  )
}

const usedBytes = async (account: Account): Promise<number | null> =>
  (await Calls.reportOf(account)).results.download.used_bytes_today

const files = ({ holds, inTime }: Define): void => {
  holds("download-limits.sent", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.completed(account)
    expect(await usedBytes(account)).toBe(0)
    await (await account.send(pathOf(id))).bytes()
    await (await account.send(pathOf(id), { headers: { range: "bytes=0-99" } })).bytes()
    await account.send(pathOf(id), { method: "HEAD" })
    expect(await usedBytes(account)).toBe(4_196)
  })

  inTime(["results.files", "download-limits.files", "download-limits.downloads"], async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.completed(account)
    for (const _ of Calls.numbers(10)) expect((await (await account.send(pathOf(id))).bytes()).length).toBe(4096)
    const refused = await account.send(pathOf(id))
    const { details } = await Calls.refusalOf(refused, 429, "download_limited")
    expect(details["scope"]).toBe("downloads")
    for (const name of ["preview", "thumb"]) {
      expect((await account.send(`/v1/generations/${id}/${name}`)).status).toBe(200)
      await Calls.refusalOf(await stage.send(`/v1/generations/${id}/${name}`), 401, "unauthorized")
    }
    await Calls.refusalOf(await account.send(`/v1/generations/${id}/poster`), 404, "result_not_found")
    await stage.advance("24 hours")
    await Calls.refusalOf(await account.send(pathOf(id)), 410, "result_expired")
  })

  inTime(
    ["download-limits.bytes", "download-limits.fits", "rate-limits.downloads", "rate-limits.daily"],
    async (stage) => {
      const account = await stage.openAccount()
      const { id } = await Calls.completed(account)
      await stage.advance({ hours: 23, minutes: 30 })
      await (await account.send(pathOf(id))).bytes()
      await (await account.send(pathOf(id), { headers: { range: "bytes=0-3903" } })).bytes()
      const refused = await account.send(pathOf(id), { headers: { range: "bytes=0-2000" } })
      expect(Calls.retryOf(refused)).toEqual({ seconds: 1_800, millis: 1_800_000 })
      expect(refused.headers.get("x-should-retry")).toBe("false")
      expect((await Calls.refusalOf(refused, 429, "download_limited")).details["scope"]).toBe("bytes")
      expect((await account.send(pathOf(id), { method: "HEAD" })).status).toBe(429)
      expect((await account.send(pathOf(id), { headers: { range: "bytes=0-1999" } })).status).toBe(206)
    },
    { http: { downloadBytesPerDay: 10_000 } }
  )

  inTime(
    ["download-limits.streams", "rate-limits.five", "download-limits.defaults", "download-limits.files"],
    async (stage) => {
      const account = await stage.openAccount()
      const { id } = await Calls.completed(account, { model: "large" })
      const open = await Promise.all(Calls.numbers(8).map(() => account.send(pathOf(id))))
      expect(open.map(({ status }) => status)).toEqual(Array(8).fill(200))
      const refused = await account.send(pathOf(id))
      expect(Calls.retryOf(refused).seconds).toBe(5)
      expect((await Calls.refusalOf(refused, 429, "download_limited")).details["scope"]).toBe("streams")
      const { id: small } = await Calls.completed(account)
      const thumbs = await Promise.all(Calls.numbers(144).map(() => account.send(`/v1/generations/${small}/thumb`)))
      expect(thumbs.map(({ status }) => status)).toEqual(Array(144).fill(200))
      for (const { body } of thumbs) await body?.cancel()
      await open[0]?.bytes()
      expect((await account.send(pathOf(id), { method: "HEAD" })).status).toBe(200)
      for (const { body } of open.slice(1)) await body?.cancel()
    }
  )
}
