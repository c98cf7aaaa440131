/** Clients that send or receive nothing, over sockets and in real time. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, layer } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { Places } from "@kinora/rate-limit"
import { Duration, Effect, Layer, Redacted, Schedule } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { connect, type Socket } from "node:net"
import * as HttpServerRoutes from "../src/HttpServerRoutes.ts"
import * as Host from "./Host.ts"

const stallMax = Duration.seconds(2)

const server = HttpRouter.serve(
  HttpServerRoutes.layerWith({ bodyStallMax: stallMax, responseStallMax: stallMax }),
  { disableLogger: true, disableListenLog: true }
).pipe(
  Layer.provideMerge(Host.services),
  Layer.provideMerge(NodeHttpServer.layerTest)
)

const port = Effect.map(
  HttpServer.HttpServer,
  ({ address }) => address._tag === "UnixPathAddress" ? 0 : address.port
)

/** Opens a connection that reads nothing yet, and sends the text. */
const open = Effect.fnUntraced(function*(text: string) {
  const number = yield* port
  return yield* Effect.acquireRelease(
    Effect.sync(() => {
      const socket = connect(number, "127.0.0.1")
      socket.write(text.replaceAll("\n", "\r\n"))
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )
})

/** Reads until the server closes the connection. */
const readAll = (socket: Socket) =>
  Effect.callback<string>((done) => {
    let text = ""
    socket.on("data", (data) => {
      text += String(data)
    })
    socket.once("close", () => done(Effect.succeed(text)))
  })

/** Waits until this many downloads with keys of the account hold a place. */
const awaitHeld = (account: string, count: number) =>
  Effect.repeat(Places.Places.use((places) => places.held(`streams:${account}`)), {
    until: (held) => held === count,
    schedule: Schedule.spaced("20 millis")
  })

layer(server, { excludeTestServices: true })("clients that", (it) => {
  it.effect("send no more of their bodies get 408, and their connections are closed", () =>
    Effect.gen(function*() {
      const { key } = yield* Host.openAccount()
      const head = `Host: localhost\nAuthorization: Bearer ${Redacted.value(key)}\nContent-Length: 50331648\n`
      const creation = `POST /v1/generations HTTP/1.1\n${head}Content-Type: application/json\n\n{`
      const upload = `POST /v1/uploads HTTP/1.1\n${head.replace("50331648", "1000")}Content-Type: image/png\n\n{`
      const signIn = "POST /console/v1/session HTTP/1.1\nHost: localhost\nSec-Fetch-Site: same-origin\n" +
        "Content-Length: 1000\nContent-Type: application/json\n\n{"
      const small = creation.replace("50331648", "1000")
      const smallImage = small.replace("/v1/generations", "/v1/images/generations")
      const requests = [...Array.from({ length: 11 }, () => creation), small, smallImage, upload, signIn]
      const sockets = yield* Effect.forEach(requests, open)
      const answers = yield* Effect.forEach(sockets, readAll, { concurrency: "unbounded" })
      for (const answer of answers) {
        assert.match(answer, /^HTTP\/1\.1 408 /)
        assert.match(answer, /\r\nconnection: close\r\n/i)
        assert.include(answer, "{\"error\":{\"code\":\"request_timeout\",")
      }
    }).pipe(Effect.scoped))

  it.effect("do not receive their files lose their places", () =>
    Effect.gen(function*() {
      const { account, key } = yield* Host.openAccount({ email: "reader@example.com" })
      // Much more than the buffers of the sockets hold.
      const { id } = yield* Host.addCompleted(account, new Uint8Array(32 * 1024 ** 2))
      const head = `HTTP/1.1\nHost: localhost\nAuthorization: Bearer ${Redacted.value(key)}\n\n`
      for (let n = 0; n < 8; n++) yield* open(`GET /v1/generations/${id}/content ${head}`)
      yield* awaitHeld(account.id, 8)
      yield* awaitHeld(account.id, 0)
    }).pipe(Effect.scoped))
})

/** The same with the default limits, which no download reaches during a test. */
const patient = HttpRouter.serve(HttpServerRoutes.layer, { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provideMerge(Host.services),
  Layer.provideMerge(NodeHttpServer.layerTest)
)

layer(patient, { excludeTestServices: true })("the download of a suspended account", (it) => {
  it.effect("ends, also if its client does not read", () =>
    Effect.gen(function*() {
      const { account, key } = yield* Host.openAccount()
      const { id } = yield* Host.addCompleted(account, new Uint8Array(32 * 1024 ** 2))
      yield* open(
        `GET /v1/generations/${id}/content HTTP/1.1\nHost: localhost\nAuthorization: Bearer ${Redacted.value(key)}\n\n`
      )
      yield* awaitHeld(account.id, 1)
      yield* Accounts.Accounts.use((accounts) => accounts.suspend(account.id))
      yield* awaitHeld(account.id, 0)
    }).pipe(Effect.scoped), 20_000)
})
