import { assert, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, PlatformError, Redacted } from "effect"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const page = "<!doctype html><title>Kinora API reference</title>"
const script = "export const scalar = 1\n".repeat(10)
const files: Readonly<Record<string, string>> = {
  "index.html": page,
  "before.js": "first",
  "assets/index-1a2b.js": script,
  "assets/index-1a2b.js.br": "as br",
  "assets/index-1a2b.js.gz": "as gzip"
}

/** A directory with the built page, and the files that were read from it. */
const makeDirectory = () => {
  const reads: Array<string> = []
  const state = { isBroken: false, reads }
  const layer = FileSystem.layerNoop({
    exists: (path) => Effect.succeed(path.slice("/docs/".length) in files),
    readDirectory: () => Effect.succeed(["assets", ...Object.keys(files)]),
    readFile: (path) =>
      Effect.suspend(() => {
        const name = path.slice("/docs/".length)
        reads.push(name)
        return state.isBroken
          ? Effect.fail(PlatformError.systemError({ _tag: "Busy", module: "FileSystem", method: "readFile" }))
          : Effect.succeed(new TextEncoder().encode(files[name]))
      })
  })
  return { state, layer: Layer.provideMerge(layer, Host.layer) }
}

const options = { docs: true, docsDirectory: "/docs" }

it.effect("serves the page at /docs, which calls only this server", () => {
  const { layer } = makeDirectory()
  return Effect.gen(function*() {
    const send = yield* Host.start(options)
    for (const path of ["/docs", "/docs?a=b"]) {
      const { headers, status, text } = yield* send("GET", path)
      assert.deepStrictEqual([status, text], [200, page], path)
      assert.deepStrictEqual(
        [headers["content-type"], headers["cache-control"]],
        ["text/html; charset=utf-8", "no-cache"]
      )
      const policy = (headers["content-security-policy"] ?? "").split("; ")
      assert.includeMembers(policy, [
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "font-src 'self'"
      ])
      assert.includeMembers(policy, ["frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"])
      assert.deepStrictEqual(policy.filter((one) => one.includes("unsafe")), ["style-src 'self' 'unsafe-inline'"])
      assert.strictEqual(headers["x-content-type-options"], "nosniff")
      assert.strictEqual(headers["referrer-policy"], "no-referrer")
      const again = yield* send("GET", path, { headers: { "if-none-match": headers["etag"] ?? "" } })
      assert.deepStrictEqual([again.status, again.text, again.headers["etag"]], [304, "", headers["etag"]])
    }
    for (
      const path of [
        "/docs/",
        "/Docs",
        "/docs/missing.js",
        "/docs/assets/",
        "/docs/other",
        "/docs/assets/index-1a2b.js.br"
      ]
    ) {
      errorOf(yield* send("GET", path), "not_found")
    }
    errorOf(yield* send("POST", "/docs"), "method_not_allowed")
    const start = yield* send("GET", "/")
    assert.deepStrictEqual([start.status, start.headers["location"]], [302, "https://api.example.com/docs"])
  }).pipe(Effect.scoped, Effect.provide(layer))
})

it.effect("reads each encoding of a file once, when it is first requested", () => {
  const { layer, state } = makeDirectory()
  return Effect.gen(function*() {
    const send = yield* Host.start(options)
    assert.deepStrictEqual(state.reads, [])
    const path = "/docs/assets/index-1a2b.js"
    for (const [accepted, text] of [["gzip, br", "as br"], ["gzip", "as gzip"], ["", script]] as const) {
      for (const method of ["GET", "HEAD", "GET"] as const) {
        const answer = yield* send(method, path, { headers: { "accept-encoding": accepted } })
        assert.deepStrictEqual([answer.status, answer.text], [200, method === "HEAD" ? "" : text])
        assert.strictEqual(answer.headers["cache-control"], "public, max-age=31536000, immutable")
        assert.strictEqual(answer.headers["vary"], "Accept-Encoding")
      }
    }
    assert.deepStrictEqual(
      state.reads,
      ["br", "gz"].map((end) => `assets/index-1a2b.js.${end}`).concat("assets/index-1a2b.js")
    )
  }).pipe(Effect.scoped, Effect.provide(layer))
})

it.effect("is unavailable while a file cannot be read, and reads it again", () => {
  const { layer, state } = makeDirectory()
  return Effect.gen(function*() {
    const send = yield* Host.start(options)
    state.isBroken = true
    errorOf(yield* send("GET", "/docs"), "unavailable")
    state.isBroken = false
    assert.strictEqual((yield* send("GET", "/docs")).text, page)
  }).pipe(Effect.scoped, Effect.provide(layer))
})

it.effect("lists the documents that the listener serves", () =>
  Effect.gen(function*() {
    const adminToken = Redacted.make("token-of-the-operator")
    const cases = [
      [{ adminToken }, ["/openapi.json", "/admin/v1/openapi.json", "/console/v1/openapi.json"]],
      [{ adminToken: undefined }, ["/openapi.json", "/console/v1/openapi.json"]],
      [{ adminToken, operatorRoutes: false }, ["/openapi.json", "/console/v1/openapi.json"]],
      [{ adminToken: undefined, console: false }, ["/openapi.json"]]
    ] as const
    for (const [given, urls] of cases) {
      const send = yield* Host.start({ docs: true, ...given })
      const { json } = yield* send("GET", "/docs/documents.json")
      assert.deepStrictEqual((json as ReadonlyArray<{ readonly url: string }>).map(({ url }) => url), [...urls])
      for (const url of urls) {
        const answer = yield* send("HEAD", url, { headers: { "accept-encoding": "gzip" } })
        assert.deepStrictEqual([answer.status, answer.headers["content-encoding"]], [200, "gzip"], url)
        assert.strictEqual(answer.headers["cache-control"], "public, max-age=300")
      }
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("explains how to build the page if it is not built", () =>
  Effect.gen(function*() {
    for (const docsDirectory of [undefined, "/elsewhere"]) {
      const send = yield* Host.start({ docs: true, docsDirectory })
      const { headers, status, text } = yield* send("GET", "/docs")
      assert.strictEqual(status, 503)
      assert.match(text, /^The API reference is not built\. Run `npm run build -w @kinora\/console`/)
      assert.strictEqual(headers["cache-control"], "no-store")
    }
  }).pipe(Effect.scoped, Effect.provide(makeDirectory().layer)))
