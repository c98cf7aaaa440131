import { assert, it } from "@effect/vitest"
import { Certificates, NameServer } from "@kinora/testkit"
import { Effect } from "effect"
import { AddressGuard, make as makeGuard } from "../src/AddressGuard.ts"
import type { Outcome } from "../src/Delivery.ts"
import * as UndiciTransport from "../src/UndiciTransport.ts"
import { flood, makeRawReceiver, makeReceiver } from "./receivers.ts"

const name = "hooks.receiver.dev"

/** Sends to this machine under any name, and trusts the authorities that are given. */
const makeSend = Effect.fnUntraced(function*(ca: ReadonlyArray<string>, addresses = ["127.0.0.1"]) {
  const names = yield* NameServer.make((_, type) => type === "A" ? addresses : [])
  const guard = yield* makeGuard({ allowPrivate: true, nameServers: [names.address] })
  const { send } = yield* Effect.provideService(UndiciTransport.make({ ca }), AddressGuard, guard)
  return (host: string, port: number) =>
    send({ url: `https://${host}:${port}/`, headers: {}, body: new Uint8Array([1]) })
})

const good: Outcome = { reason: "ok", httpStatus: 204 }
const refused: Outcome = { reason: "tls", httpStatus: null }

it.live("asks for the URL's host, and verifies it, at the address that was checked (D44)", () =>
  Effect.gen(function*() {
    const authority = yield* Certificates.makeAuthority
    const certificate = yield* authority.issue({ names: [name] })
    const receiver = yield* makeReceiver({ certificate, host: "127.0.0.2" })
    const send = yield* makeSend([authority.ca], ["127.0.0.2"])
    assert.deepStrictEqual(yield* send(name, receiver.port), good)
    assert.deepStrictEqual(yield* send(name, receiver.port), good)
    assert.strictEqual(receiver.connections(), 1)
    const arrived = receiver.arrived[0]!
    assert.strictEqual(arrived.servername, name)
    assert.strictEqual(arrived.address, "127.0.0.2")
    assert.strictEqual(arrived.alpn, "http/1.1")
    assert.deepStrictEqual(arrived.rawHeaders.slice(0, 2), ["host", `${name}:${receiver.port}`])
  }))

it.live.each(["127.0.0.1", "::1"])(
  "verifies the address where the URL has no name: %s (D44)",
  (address) =>
    Effect.gen(function*() {
      const authority = yield* Certificates.makeAuthority
      const send = yield* makeSend([authority.ca])
      const host = address.includes(":") ? `[${address}]` : address
      const receiver = yield* makeReceiver({
        certificate: yield* authority.issue({ names: [address] }),
        host: address
      })
      assert.deepStrictEqual(yield* send(host, receiver.port), good)
      assert.strictEqual(receiver.arrived[0]?.servername, false)

      const named = yield* makeReceiver({ certificate: yield* authority.issue({ names: [name] }), host: address })
      assert.deepStrictEqual(yield* send(host, named.port), refused)
      assert.strictEqual(named.arrived.length, 0)
    })
)

it.live.each<readonly [string, Certificates.CertificateOptions]>([
  ["is for another name", { names: ["other.receiver.dev"] }],
  ["is for names below", { names: [`*.${name}`] }],
  ["is for the address and not for the name", { names: ["127.0.0.1"] }],
  ["has expired", { names: [name], notAfter: new Date("2021-01-01T00:00:00Z") }],
  ["is of the future", { names: [name], notBefore: new Date("2048-01-01T00:00:00Z") }]
])("sends nothing to a receiver whose certificate %s (D44, D45)", ([, options]) =>
  Effect.gen(function*() {
    const authority = yield* Certificates.makeAuthority
    const receiver = yield* makeReceiver({ certificate: yield* authority.issue(options) })
    const send = yield* makeSend([authority.ca])
    assert.deepStrictEqual(yield* send(name, receiver.port), refused)
    // What one handshake left behind does not let the next one through.
    assert.deepStrictEqual(yield* send(name, receiver.port), refused)
    assert.strictEqual(receiver.arrived.length, 0)
    assert.strictEqual(receiver.connections(), 2)
  }))

it.live("bounds an endless answer over TLS as well (D44)", () =>
  Effect.gen(function*() {
    const authority = yield* Certificates.makeAuthority
    const receiver = yield* makeReceiver({
      certificate: yield* authority.issue({ names: [name] }),
      answer: ({ socket }) => flood(socket, `HTTP/1.1 103 Early Hints\r\nLink: ${"x".repeat(8_000)}\r\n\r\n`)
    })
    const send = yield* makeSend([authority.ca])
    assert.deepStrictEqual(yield* send(name, receiver.port), { reason: "protocol", httpStatus: null })
    yield* receiver.idle.await
  }))

it.live("sends nothing to a receiver that vouches for itself, or that an unknown authority vouches for (D45)", () =>
  Effect.gen(function*() {
    const [trusted, other] = [yield* Certificates.makeAuthority, yield* Certificates.makeAuthority]
    const send = yield* makeSend([trusted.ca])
    for (
      const certificate of [
        yield* Certificates.makeSelfSigned({ names: [name] }),
        yield* other.issue({ names: [name] })
      ]
    ) {
      const receiver = yield* makeReceiver({ certificate })
      assert.deepStrictEqual(yield* send(name, receiver.port), refused)
      assert.strictEqual(receiver.arrived.length, 0)
    }
  }))

it.live("sends nothing to a receiver that is trusted by nobody but its own machine's settings", () =>
  Effect.gen(function*() {
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0"
      }),
      () =>
        Effect.sync(() => {
          delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
        })
    )
    const receiver = yield* makeReceiver({ certificate: yield* Certificates.makeSelfSigned({ names: [name] }) })
    const send = yield* makeSend([])
    assert.deepStrictEqual(yield* send(name, receiver.port), refused)
  }))

it.live("sends nothing to a receiver that does not speak TLS (D45)", () =>
  Effect.gen(function*() {
    const send = yield* makeSend([])
    const plain = yield* makeReceiver()
    assert.deepStrictEqual(yield* send(name, plain.port), refused)
    const closing = yield* makeRawReceiver((socket) => socket.destroy())
    assert.deepStrictEqual(yield* send(name, closing.port), refused)
    assert.strictEqual(plain.arrived.length, 0)
  }))

it.live("gives up on a handshake that does not end in time, and closes the connection (Endpoint requirements)", () =>
  Effect.gen(function*() {
    const silent = yield* makeRawReceiver(() => {})
    const guard = yield* makeGuard({ allowPrivate: true })
    const { send } = yield* Effect.provideService(
      UndiciTransport.make({ timeout: "100 millis" }),
      AddressGuard,
      guard
    )
    const outcome = yield* send({ url: `https://127.0.0.1:${silent.port}/`, headers: {}, body: new Uint8Array([1]) })
    assert.deepStrictEqual(outcome, { reason: "timeout", httpStatus: null })
    yield* silent.idle.await
  }))
