import { assert, it } from "@effect/vitest"
import { AddressGuard, make as makeGuard } from "@kinora/address-guard/AddressGuard"
import { Certificates, NameServer } from "@kinora/testkit"
import { Effect } from "effect"
import type { Outcome } from "../src/Delivery.ts"
import * as UndiciTransport from "../src/UndiciTransport.ts"
import { flood, makeRawReceiver, makeReceiver } from "./receivers.ts"

const name = "hooks.receiver.dev"

/** A transport that sends to this machine under any name, and trusts these authorities. */
const makeSend = Effect.fnUntraced(function*(ca: ReadonlyArray<string>, addresses = ["127.0.0.1"]) {
  const names = yield* NameServer.make((_, type) => type === "A" ? addresses : [])
  const guard = yield* makeGuard({ allowPrivate: true, nameServers: [names.address] })
  const { send } = yield* Effect.provideService(UndiciTransport.make({ ca }), AddressGuard, guard)
  return (host: string, port: number) =>
    send({ url: `https://${host}:${port}/`, headers: {}, body: new Uint8Array([1]) })
})

const good: Outcome = { reason: "ok", httpStatus: 204 }
const refused: Outcome = { reason: "tls", httpStatus: null }

it.live("sends the URL's host as SNI to the checked address, and verifies its certificate", () =>
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
  "verifies the certificate of an address if the URL has no name: %s",
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
  ["is valid for the address but not for the name", { names: ["127.0.0.1"] }],
  ["has expired", { names: [name], notAfter: new Date("2021-01-01T00:00:00Z") }],
  ["is not valid yet", { names: [name], notBefore: new Date("2048-01-01T00:00:00Z") }]
])("sends nothing to a receiver whose certificate %s", ([, options]) =>
  Effect.gen(function*() {
    const authority = yield* Certificates.makeAuthority
    const receiver = yield* makeReceiver({ certificate: yield* authority.issue(options) })
    const send = yield* makeSend([authority.ca])
    assert.deepStrictEqual(yield* send(name, receiver.port), refused)
    // The session of one handshake does not bypass the check of the next one.
    assert.deepStrictEqual(yield* send(name, receiver.port), refused)
    assert.strictEqual(receiver.arrived.length, 0)
    assert.strictEqual(receiver.connections(), 2)
  }))

it.live("limits an endless response over TLS", () =>
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

it.live("sends nothing to a receiver with a self-signed certificate or one of an unknown authority", () =>
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

it.live("ignores variables of the environment that disable certificate checks", () =>
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

it.live("sends nothing to a receiver that does not speak TLS", () =>
  Effect.gen(function*() {
    const send = yield* makeSend([])
    const plain = yield* makeReceiver()
    assert.deepStrictEqual(yield* send(name, plain.port), refused)
    const closing = yield* makeRawReceiver((socket) => socket.destroy())
    assert.deepStrictEqual(yield* send(name, closing.port), refused)
    assert.strictEqual(plain.arrived.length, 0)
  }))

it.live("times out on a TLS handshake that does not end, and closes the connection", () =>
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
