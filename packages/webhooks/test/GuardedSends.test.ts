import { assert, it } from "@effect/vitest"
import * as AddressGuard from "@kinora/address-guard/AddressGuard"
import { NameServer } from "@kinora/testkit"
import { Effect } from "effect"
import { createServer } from "node:net"
import type { Outcome } from "../src/Delivery.ts"
import * as UndiciTransport from "../src/UndiciTransport.ts"
import { listen } from "./receivers.ts"

/**
 * Listeners on one port of both families that a rejected send must not reach, and a transport
 * behind a guard that resolves names from the zone and allows that port.
 */
const makeScene = Effect.fnUntraced(function*(zone: NameServer.Zone, options: AddressGuard.AddressGuardOptions = {}) {
  const names = yield* NameServer.make(zone)
  const four = yield* listen(createServer((socket) => socket.destroy()))
  const six = yield* listen(createServer((socket) => socket.destroy()), "::1", four.port)
  const guard = yield* AddressGuard.make({ nameServers: [names.address], ports: [four.port], ...options })
  const { send } = yield* Effect.provideService(UndiciTransport.make({}), AddressGuard.AddressGuard, guard)
  const url = (host: string) => `https://${host}:${four.port}/hook`
  return {
    names,
    check: (host: string) => guard.check(url(host)),
    send: (host: string) => send({ url: url(host), headers: {}, body: new Uint8Array([1]) }),
    connections: () => four.connections() + six.connections()
  }
})

const blocked: Outcome = { reason: "blocked_address", httpStatus: null }
const unknown: Outcome = { reason: "dns", httpStatus: null }

/** A zone with one name, by record type. */
const only =
  (host: string, answers: Partial<Record<NameServer.RecordType, NameServer.Answer>>): NameServer.Zone => (name, type) =>
    name === host ? answers[type] ?? [] : "no_such_name"

it.live("connects to the listener if private addresses are allowed, which shows that the tests below would detect a connection", () =>
  Effect.gen(function*() {
    const { connections, send } = yield* makeScene(only("hooks.com", { A: ["127.0.0.1"] }), { allowPrivate: true })
    assert.strictEqual((yield* send("hooks.com")).reason, "tls")
    assert.strictEqual(connections(), 1)
    assert.strictEqual((yield* send("[::1]")).reason, "tls")
    assert.strictEqual(connections(), 2)
  }))

it.live("sends nothing to a name that resolves to a private address after its first check", () =>
  Effect.gen(function*() {
    const { check, connections, names, send } = yield* makeScene((_, type, asked) =>
      type === "A" ? [asked === 0 ? "93.184.216.34" : "127.0.0.1"] : []
    )
    assert.deepStrictEqual((yield* check("hooks.com")).addresses, ["93.184.216.34"])
    assert.deepStrictEqual(yield* send("hooks.com"), blocked)
    assert.deepStrictEqual(yield* send("hooks.com"), blocked)
    // Each send queries, although the records have a TTL of five minutes.
    assert.strictEqual(names.asked("hooks.com", "A"), 3)
    assert.strictEqual(names.asked("hooks.com", "AAAA"), 3)
    assert.strictEqual(connections(), 0)
  }))

it.live("connects to an allowed address, and sends nothing once the name resolves to another private one", () =>
  Effect.gen(function*() {
    const { connections, names, send } = yield* makeScene(
      (_, type, asked) => type === "A" ? [asked === 0 ? "127.0.0.1" : "127.0.0.2"] : [],
      { allowedNetworks: ["127.0.0.1", "10.20.0.0/16"] }
    )
    assert.strictEqual((yield* send("hooks.internal")).reason, "tls")
    assert.strictEqual(connections(), 1)
    assert.deepStrictEqual(yield* send("hooks.internal"), blocked)
    assert.strictEqual(names.asked("hooks.internal", "A"), 2)
    assert.deepStrictEqual(yield* send("[::1]"), blocked)
    assert.strictEqual(connections(), 1)
  }))

it.live.each<readonly [string, NameServer.Zone, Outcome]>([
  ["is private", only("hooks.com", { A: ["127.0.0.1"] }), blocked],
  ["is private in IPv6 only", only("hooks.com", { AAAA: ["::1"] }), blocked],
  ["is public in IPv4 and private in IPv6", only("hooks.com", { A: ["8.8.8.8"], AAAA: ["::1"] }), blocked],
  ["is private in IPv4 and public in IPv6", only("hooks.com", { A: ["127.0.0.1"], AAAA: ["2606:4700::1"] }), blocked],
  ["has a private address among public ones", only("hooks.com", { A: ["8.8.8.8", "127.0.0.1", "1.1.1.1"] }), blocked],
  ["has a mapped address", only("hooks.com", { AAAA: ["::ffff:7f00:1"] }), blocked],
  ["has an address behind NAT64", only("hooks.com", { AAAA: ["64:ff9b::7f00:1"] }), blocked],
  [
    "has a chain of CNAMEs to a private name",
    (name, type) => {
      if (name === "hooks.com") return { alias: "a.hooks.net" }
      if (name === "a.hooks.net") return { alias: "b.hooks.org" }
      return type === "A" ? ["127.0.0.1"] : []
    },
    blocked
  ],
  [
    "has a CNAME to localhost",
    (name, type) => name === "hooks.com" ? { alias: "localhost" } : type === "A" ? ["127.0.0.1"] : [],
    blocked
  ],
  ["stands for itself", () => ({ alias: "hooks.com" }), unknown],
  ["has no address", only("hooks.com", {}), unknown],
  ["does not exist", () => "no_such_name", unknown],
  ["cannot be looked up", () => "failure", unknown],
  [
    "is public in IPv4 and cannot be resolved in IPv6",
    only("hooks.com", { A: ["8.8.8.8"], AAAA: "failure" }),
    unknown
  ],
  [
    "is public in IPv6 and cannot be resolved in IPv4",
    only("hooks.com", { A: "failure", AAAA: ["2606:4700::1"] }),
    unknown
  ]
])("sends nothing to a name that %s", ([, zone, outcome]) =>
  Effect.gen(function*() {
    const { connections, names, send } = yield* makeScene(zone)
    assert.deepStrictEqual(yield* send("hooks.com"), outcome)
    assert.isAbove(names.asked("hooks.com", "A"), 0)
    assert.isAbove(names.asked("hooks.com", "AAAA"), 0)
    assert.strictEqual(connections(), 0)
  }))

it.live.each([
  "127.0.0.1",
  "127.1",
  "0x7f.1",
  "2130706433",
  "017700000001",
  "127.0.0.1.",
  "127\u30020\u30020\u30021",
  "0",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "localhost",
  "localhost.",
  "x.localhost"
])("rejects https://%s without a query or a connection", (host) =>
  Effect.gen(function*() {
    const { connections, names, send } = yield* makeScene((_, type) => type === "A" ? ["127.0.0.1"] : ["::1"])
    assert.deepStrictEqual(yield* send(host), blocked)
    assert.strictEqual(connections(), 0)
    assert.strictEqual(names.asked(host, "A"), 0)
  }))

it.live("stops waiting for a silent name server at the time limit", () =>
  Effect.gen(function*() {
    const { connections, send } = yield* makeScene(() => "silence", { lookupTimeout: "50 millis" })
    assert.deepStrictEqual(yield* send("hooks.com"), unknown)
    assert.strictEqual(connections(), 0)
  }))

it.live.each([
  "kinora.dev",
  "KINORA.dev.",
  "any.thing.kinora.dev",
  "alias.com",
  "same.com",
  "six.com",
  "93.184.216.34"
])(
  "rejects own domains under every name: %s",
  (host) =>
    Effect.gen(function*() {
      const { check, send } = yield* makeScene(NameServer.ownDomainZone, { ownDomains: ["Kinora.dev"] })
      assert.strictEqual((yield* Effect.flip(check(host))).problem, "own_domain")
      assert.deepStrictEqual(yield* send(host), blocked)
      assert.deepStrictEqual((yield* check("other.com")).addresses, ["8.8.8.8"])
    })
)
