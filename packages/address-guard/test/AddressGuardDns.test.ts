import { assert, it } from "@effect/vitest"
import { NameServer } from "@kinora/testkit"
import { Effect, Fiber } from "effect"
import * as AddressGuard from "../src/AddressGuard.ts"

/** A guard that resolves names from the zone. */
const makeScene = Effect.fnUntraced(function*(zone: NameServer.Zone, options: AddressGuard.AddressGuardOptions = {}) {
  const names = yield* NameServer.make(zone)
  const guard = yield* AddressGuard.make({ nameServers: [names.address], ...options })
  return { names, check: (host: string) => guard.check(`https://${host}/hook`) }
})

/** A zone with one name, by record type. */
const only =
  (host: string, answers: Partial<Record<NameServer.RecordType, NameServer.Answer>>): NameServer.Zone => (name, type) =>
    name === host ? answers[type] ?? [] : "no_such_name"

it.live("accepts international names and names with addresses of one family", () =>
  Effect.gen(function*() {
    const { check } = yield* makeScene((name, type) => {
      if (name === "four.com") return type === "A" ? ["8.8.8.8"] : []
      if (name === "six.com") return type === "AAAA" ? ["2606:4700::1"] : []
      if (name === "xn--mnchen-3ya.de") return type === "A" ? ["9.9.9.9"] : []
      return name === "alias.com" ? { alias: "four.com" } : "no_such_name"
    })
    assert.deepStrictEqual((yield* check("four.com")).addresses, ["8.8.8.8"])
    assert.deepStrictEqual((yield* check("six.com")).addresses, ["2606:4700::1"])
    assert.deepStrictEqual((yield* check("münchen.de")).addresses, ["9.9.9.9"])
    assert.deepStrictEqual((yield* check("alias.com")).addresses, ["8.8.8.8"])
  }))

it.live("shares one query among concurrent lookups of a name, and queries again for later ones", () =>
  Effect.gen(function*() {
    const { check, names } = yield* makeScene(only("hooks.com", { A: ["8.8.8.8"] }))
    yield* Effect.all(Array.from({ length: 20 }, () => check("hooks.com")), { concurrency: 20 })
    assert.strictEqual(names.asked("hooks.com", "A"), 1)
    yield* check("hooks.com")
    assert.strictEqual(names.asked("hooks.com", "A"), 2)
  }))

it.live("completes a shared query after the first caller is interrupted", () =>
  Effect.gen(function*() {
    const { check } = yield* makeScene(only("hooks.com", { A: ["8.8.8.8"] }))
    const first = yield* Effect.forkChild(check("hooks.com"), { startImmediately: true })
    const second = yield* Effect.forkChild(check("hooks.com"), { startImmediately: true })
    yield* Fiber.interrupt(first)
    assert.deepStrictEqual((yield* Fiber.join(second)).addresses, ["8.8.8.8"])
  }))

it.live("accepts hosts that only share an address with an own domain if `ownAddresses` is false", () =>
  Effect.gen(function*() {
    const { check } = yield* makeScene(NameServer.ownDomainZone, { ownDomains: ["kinora.dev"], ownAddresses: false })
    assert.include((yield* check("same.com")).addresses, "93.184.216.34")
    assert.strictEqual((yield* Effect.flip(check("alias.com"))).problem, "own_domain")
  }))

it.live("rejects a name with more than eight CNAMEs, which could hide an own domain", () =>
  Effect.gen(function*() {
    const chain: NameServer.Zone = (name, type) => {
      const [, left] = /^(\d+)\.hooks\.com$/.exec(name) ?? []
      if (Number(left) > 0) return { alias: `${Number(left) - 1}.hooks.com` }
      return type === "A" && left !== undefined ? ["8.8.8.8"] : []
    }
    const { check } = yield* makeScene(chain, { ownDomains: ["kinora.dev"] })
    assert.deepStrictEqual((yield* check("8.hooks.com")).addresses, ["8.8.8.8"])
    assert.strictEqual((yield* Effect.flip(check("9.hooks.com"))).problem, "dns")
  }))

it.live("accepts other hosts while own domains cannot be resolved", () =>
  Effect.gen(function*() {
    const { check } = yield* makeScene(
      (name, type) => name === "other.com" ? (type === "A" ? ["8.8.8.8"] : []) : "failure",
      { ownDomains: ["kinora.dev"] }
    )
    assert.deepStrictEqual((yield* check("other.com")).addresses, ["8.8.8.8"])
  }))

it.live.each<readonly [string, NameServer.Zone, string]>([
  ["has a private address among public ones", only("hooks.com", { A: ["8.8.8.8", "127.0.0.1"] }), "address"],
  ["is public in IPv4 and private in IPv6", only("hooks.com", { A: ["8.8.8.8"], AAAA: ["::1"] }), "address"],
  ["does not exist", () => "no_such_name", "dns"],
  ["cannot be resolved", () => "failure", "dns"],
  ["is public in IPv4 and cannot be resolved in IPv6", only("hooks.com", { A: ["8.8.8.8"], AAAA: "failure" }), "dns"]
])("rejects a name that %s", ([, zone, problem]) =>
  Effect.gen(function*() {
    const { check } = yield* makeScene(zone)
    assert.strictEqual((yield* Effect.flip(check("hooks.com"))).problem, problem)
  }))

it.live("stops waiting for a silent name server at the time limit", () =>
  Effect.gen(function*() {
    const { check } = yield* makeScene(() => "silence", { lookupTimeout: "50 millis" })
    assert.strictEqual((yield* Effect.flip(check("hooks.com"))).problem, "dns")
  }))
