import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import * as DownloadCallers from "../src/DownloadCallers.ts"

/** Downloads from a server with this listener. */
const downloadFrom = Effect.fnUntraced(function*(listener: RequestListener) {
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(listener)
      await once(server.listen(0, "127.0.0.1"), "listening")
      return server
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  const address = server.address()
  return yield* DownloadCallers.download({
    origin: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    connections: 2,
    seconds: 0.05,
    status: 206,
    bytes: 100_000,
    downloads: [{ path: "/a", headers: { range: "bytes=0-99999" } }, { path: "/b", headers: {} }]
  })
})

it.live("sends the requests in turns, and counts responses", () =>
  Effect.gen(function*() {
    const paths = new Set<string>()
    const { count, round } = yield* downloadFrom(({ headers, url = "" }, response) => {
      paths.add(`${url} ${headers.range}`)
      response.writeHead(206, { "content-length": 100_000 }).end(Buffer.alloc(100_000))
    })
    assert.isAbove(round.perSecond, 0)
    assert.isAbove(count, 1)
    assert.deepStrictEqual(Array.from(paths).toSorted(), ["/a bytes=0-99999", "/b undefined"])
  }).pipe(Effect.scoped))

it.live.each(
  [
    ["another status", 200, 100_000, /the response was 200/],
    ["another length", 206, 99_999, /its content-length is 99999 instead of 100000/]
  ] as const
)("fails for %s", ([, status, length, message]) =>
  Effect.gen(function*() {
    const failure = yield* Effect.flip(downloadFrom((_, response) => {
      response.writeHead(status, { "content-length": length }).end(Buffer.alloc(length))
    }))
    assert.match(String(failure.cause), message)
  }).pipe(Effect.scoped))

it.live("fails if the connection closes within a response", () =>
  Effect.gen(function*() {
    const failure = yield* Effect.flip(downloadFrom((_, response) => {
      response.writeHead(206, { "content-length": 100_000 }).write(Buffer.alloc(10), () => response.destroy())
    }))
    assert.match(String(failure.cause), /it closed the connection|ECONNRESET/)
  }).pipe(Effect.scoped))
