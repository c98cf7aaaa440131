import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as GuardedHttp from "../src/GuardedHttp.ts"

/** Listens on 127.0.0.1 and responds with the header `host` and ten bytes. Returns the port. */
const listen = Effect.acquireRelease(
  Effect.callback<ReturnType<typeof createServer>>((resume) => {
    const server = createServer(({ headers }, response) =>
      response.setHeader("x-host", `${headers.host}`).end("0123456789")
    )
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
).pipe(Effect.map((server) => (server.address() as AddressInfo).port))

const get = Effect.fnUntraced(function*(port: number) {
  const url = new URL(`http://upstream.invalid:${port}/`)
  const client = yield* GuardedHttp.connect({ url, addresses: ["127.0.0.1"] })
  return yield* Effect.promise(() => client.request({ method: "GET", path: "/" }))
})

describe("GuardedHttp", () => {
  it.effect("connects to the checked address, with the host of the URL", () =>
    Effect.gen(function*() {
      const port = yield* listen
      const { body, headers } = yield* get(port)
      assert.strictEqual(headers["x-host"], `upstream.invalid:${port}`)
      assert.strictEqual(String(yield* Effect.promise(() => GuardedHttp.readWhole(body, 10))), "0123456789")
    }).pipe(Effect.scoped))

  it.effect("returns nothing and closes the connection if a body is too long", () =>
    Effect.gen(function*() {
      const { body } = yield* get(yield* listen)
      assert.isUndefined(yield* Effect.promise(() => GuardedHttp.readWhole(body, 9)))
      assert.isTrue(body.destroyed)
    }).pipe(Effect.scoped))
})
