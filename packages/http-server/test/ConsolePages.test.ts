import { assert, it } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const page = "<!doctype html><title>Kinora</title>"
const script = "console.log('kinora')".repeat(10)
const files: Readonly<Record<string, string>> = {
  "index.html": page,
  "theme.js": "theme",
  "assets/app-1a2b.js": script,
  "assets/app-1a2b.js.br": "as br",
  "assets/app-1a2b.js.gz": "as gzip",
  "assets/unknown.exe": "not served"
}

/** A directory with the built console. */
const built = FileSystem.layerNoop({
  exists: (path) => Effect.succeed(path.slice("/built/".length) in files),
  readDirectory: () => Effect.succeed(["assets", ...Object.keys(files)]),
  readFile: (path) => Effect.succeed(new TextEncoder().encode(files[path.slice("/built/".length)]))
})

const layer = Layer.provideMerge(built, Host.layer)

const get = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }

it.effect("serves the page on every path of the console without an extension", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ consoleDirectory: "/built" })
    for (const path of ["/console/", "/console/index.html", "/console/jobs", "/console/jobs/gen_1?tab=events"]) {
      const { headers, status, text } = yield* send("GET", path)
      assert.deepStrictEqual([status, text], [200, page], path)
      assert.strictEqual(headers["content-type"], "text/html; charset=utf-8")
      assert.strictEqual(headers["cache-control"], "no-cache")
      assert.match(headers["content-security-policy"] ?? "", /^default-src 'none'; script-src 'self';/)
      assert.include(headers["content-security-policy"], "img-src 'self' blob: https://api.example.com")
      assert.include(headers["content-security-policy"], "frame-ancestors 'none'")
      assert.notInclude(headers["content-security-policy"], "unsafe")
      assert.strictEqual(headers["x-content-type-options"], "nosniff")
      assert.strictEqual(headers["referrer-policy"], "no-referrer")
      assert.strictEqual(headers["cross-origin-opener-policy"], "same-origin")
    }
    const paths = [
      "/console/missing.js",
      "/console/assets/missing.css",
      "/console/assets/unknown.exe",
      "/console/v1",
      "/console/v1/missing",
      "/Console/"
    ]
    for (const path of paths) errorOf(yield* send("GET", path), "not_found")
    errorOf(yield* send("POST", "/console/jobs"), "method_not_allowed")
    errorOf(yield* send("POST", "/console/v1/missing"), "not_found")
  }).pipe(Effect.scoped, Effect.provide(layer)))

it.effect("serves files that browsers keep, encoded as they accept", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ consoleDirectory: "/built" })
    const path = "/console/assets/app-1a2b.js"
    const answers: ReadonlyArray<readonly [accepted: string, encoding: string | undefined, text: string]> = [
      ["gzip, deflate, br, zstd", "br", "as br"],
      ["gzip", "gzip", "as gzip"],
      ["br;q=0, gzip", "gzip", "as gzip"],
      ["deflate", undefined, script],
      ["", undefined, script]
    ]
    const etags = new Set<string>()
    for (const [accepted, encoding, text] of answers) {
      const answer = yield* send("GET", path, { headers: { "accept-encoding": accepted } })
      assert.deepStrictEqual([answer.status, answer.headers["content-encoding"], answer.text], [200, encoding, text])
      assert.strictEqual(answer.headers["cache-control"], "public, max-age=31536000, immutable")
      assert.strictEqual(answer.headers["vary"], "Accept-Encoding")
      assert.strictEqual(answer.headers["content-type"], "text/javascript; charset=utf-8")
      const etag = answer.headers["etag"] ?? ""
      etags.add(etag)
      for (const [method, tags, status] of [["GET", etag, 304], ["HEAD", `"x", W/${etag}`, 304]] as const) {
        const headers = { "accept-encoding": accepted, "if-none-match": tags }
        const again = yield* send(method, path, { headers })
        assert.deepStrictEqual([again.status, again.text, again.headers["etag"]], [status, "", etag])
      }
    }
    assert.strictEqual(etags.size, 3)
    const head = yield* send("HEAD", path)
    assert.deepStrictEqual([head.status, head.text, head.headers["content-length"]], [200, "", String(script.length)])
    const plain = yield* send("GET", "/console/theme.js", { headers: { "accept-encoding": "br" } })
    assert.deepStrictEqual([plain.headers["content-encoding"], plain.headers["cache-control"]], [undefined, "no-cache"])
  }).pipe(Effect.scoped, Effect.provide(layer)))

it.effect("leads browsers at / to the console, and programs to the documentation", () =>
  Effect.gen(function*() {
    for (const docs of [true, false]) {
      const send = yield* Host.start({ docs })
      const browser = yield* send("GET", "/", { headers: get })
      assert.deepStrictEqual([browser.status, browser.headers["location"]], [302, "/console/"])
      const program = yield* send("GET", "/", { headers: { accept: "*/*" } })
      if (docs) {
        assert.deepStrictEqual([program.status, program.headers["location"]], [302, "https://api.example.com/docs"])
      } else errorOf(program, "not_found")
      const bare = yield* send("GET", "/console?a=b")
      assert.deepStrictEqual([bare.status, bare.headers["location"]], [302, "/console/"])
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("explains how to build the console if it is not built", () =>
  Effect.gen(function*() {
    for (const consoleDirectory of [undefined, "/elsewhere"]) {
      const send = yield* Host.start({ consoleDirectory })
      const { headers, status, text } = yield* send("GET", "/console/")
      assert.strictEqual(status, 503)
      assert.match(text, /^The console is not built\. Run `npm run build -w @kinora\/console`/)
      assert.strictEqual(headers["cache-control"], "no-store")
      assert.strictEqual((yield* send("GET", "/healthz")).status, 200)
    }
  }).pipe(Effect.scoped, Effect.provide(layer)))

it.effect("has no pages if the console is off", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ console: false, consoleDirectory: "/built", docs: true })
    for (const path of ["/console", "/console/", "/console/jobs", "/console/assets/app-1a2b.js"]) {
      errorOf(yield* send("GET", path), "not_found")
    }
    assert.strictEqual((yield* send("GET", "/", { headers: get })).headers["location"], "https://api.example.com/docs")
  }).pipe(Effect.scoped, Effect.provide(layer)))

it.effect("leads browsers from another origin to that of the base URL, once, and keeps the path", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ consoleDirectory: "/built" })
    const open = (
      host: string,
      headers: Readonly<Record<string, string>> = get,
      path = "/console/jobs?tab=events&q=a%2Fb"
    ) => send("GET", path, { headers: { host, ...headers } })
    for (const headers of [get, { "sec-fetch-dest": "document", accept: "*/*" }]) {
      const answer = yield* open("10.0.0.7:4747", headers)
      assert.deepStrictEqual(
        [answer.status, answer.headers["location"], answer.headers["cache-control"]],
        [307, "https://api.example.com/console/jobs?tab=events&q=a%2Fb", "no-store"]
      )
      // A proxy that replaces the host would lead it here again.
      const cookie = answer.headers["set-cookie"]?.split(";")[0] ?? ""
      assert.deepStrictEqual([(yield* open("10.0.0.7:4747", { ...headers, cookie })).text], [page])
    }
    const kept: ReadonlyArray<readonly [host: string, headers: Readonly<Record<string, string>>]> = [
      ["api.example.com", get],
      ["API.example.com", get],
      ...["127.0.0.1:4747", "localhost:4747", "[::1]:4747", "kinora.localhost"].map((host) => [host, get] as const),
      ["10.0.0.7", {}],
      ["10.0.0.7", { accept: "*/*" }],
      ["10.0.0.7", { ...get, "sec-fetch-dest": "empty" }],
      ["10.0.0.7", { ...get, "sec-fetch-dest": "iframe" }]
    ]
    for (const [host, headers] of kept) assert.strictEqual((yield* open(host, headers)).text, page, host)
    // Not for the API, and never to a host that the request names.
    errorOf(yield* open("10.0.0.7", get, "/console/v1/missing"), "not_found")
    errorOf(yield* open("10.0.0.7", get, "/v1/models"), "unauthorized")
    const trick = yield* open("10.0.0.7", get, "/console//evil.example/x")
    assert.strictEqual(trick.headers["location"], "https://api.example.com/console//evil.example/x")
  }).pipe(Effect.scoped, Effect.provide(layer)))

it.effect("does not lead browsers away without a base URL, and between the names of this machine", () =>
  Effect.gen(function*() {
    for (const baseUrl of [undefined, "http://localhost:4747", "http://127.0.0.1:4747"]) {
      const send = yield* Host.start({ consoleDirectory: "/built", baseUrl })
      for (const host of ["localhost:4747", "127.0.0.1:4747", "[::1]:4747"]) {
        assert.strictEqual((yield* send("GET", "/console/", { headers: { host, ...get } })).text, page)
      }
    }
  }).pipe(Effect.scoped, Effect.provide(layer)))
