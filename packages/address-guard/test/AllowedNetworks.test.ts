/** Exceptions of the guard by network. */
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit, Result } from "effect"
import * as AddressGuard from "../src/AddressGuard.ts"

interface Hosts {
  readonly [name: string]: ReadonlyArray<string>
}

/** Resolves names from a table. Others cannot be resolved. */
const lookupOf = (hosts: Hosts): AddressGuard.Lookup => ({
  addresses: (name) => {
    const found = hosts[name]
    return found === undefined ? Effect.fail(new AddressGuard.LookupFailed()) : Effect.succeed(found)
  },
  aliases: () => Effect.succeed([])
})

const makeCheck = (options: AddressGuard.AddressGuardOptions, hosts: Hosts = {}) =>
  Effect.map(
    AddressGuard.make({ lookup: lookupOf(hosts), machineAddresses: () => [], ...options }),
    ({ check }) => (url: string) =>
      Effect.map(Effect.result(check(url)), (result) =>
        Result.isFailure(result) ? result.failure.problem : result.success.addresses.join(" "))
  )

it.effect.each<readonly [network: string, address: string, isAllowed: boolean]>([
  ["10.20.0.0/16", "10.20.0.0", true],
  ["10.20.0.0/16", "10.20.255.255", true],
  ["10.20.0.0/16", "10.19.255.255", false],
  ["10.20.0.0/16", "10.21.0.0", false],
  ["10.20.0.0/16", "192.168.0.1", false],
  ["10.20.0.128/25", "10.20.0.127", false],
  ["10.20.0.128/25", "10.20.0.128", true],
  ["10.20.0.8/31", "10.20.0.9", true],
  ["10.20.0.8/31", "10.20.0.10", false],
  ["10.20.0.5", "10.20.0.5", true],
  ["10.20.0.5/32", "10.20.0.6", false],
  ["0.0.0.0/0", "169.254.169.254", true],
  ["0.0.0.0/0", "[fd00::1]", false],
  ["fd00:20::/32", "[fd00:20:ffff::1]", true],
  ["fd00:20::/32", "[fd00:21::1]", false],
  ["fd00:20::1", "[fd00:20::1]", true],
  ["fd00:20::1", "[fd00:20::2]", false],
  ["FD00:0020::/32", "[fd00:20::1]", true],
  ["fd00:20::/33", "[fd00:20:8000::1]", false],
  // Mapped addresses are IPv4 addresses, in the list and in a URL.
  ["10.20.0.0/16", "[::ffff:10.20.0.1]", true],
  ["10.20.0.0/16", "[::ffff:10.21.0.1]", false],
  ["::ffff:10.20.0.0/112", "10.20.0.1", true],
  ["::ffff:10.20.0.0/112", "10.21.0.1", false],
  ["::ffff:10.20.0.5", "10.20.0.5", true],
  ["::/0", "[::ffff:10.20.0.1]", false],
  ["::/0", "10.20.0.1", false],
  // Other addresses that embed an IPv4 address are not that address.
  ["10.20.0.0/16", "[64:ff9b::a14:1]", false],
  ["10.20.0.0/16", "[::a14:1]", false],
  ["10.20.0.0/16", "[2002:a14:1::1]", false]
])("%s and the address %s: %s", ([network, address, isAllowed]) =>
  Effect.gen(function*() {
    const check = yield* makeCheck({ allowedNetworks: [network] })
    const expected = isAllowed ? new URL(`https://${address}`).hostname.replace(/[[\]]/g, "") : "address"
    assert.strictEqual(yield* check(`https://${address}/`), expected)
    // A public host needs no exception.
    assert.strictEqual(yield* check("https://8.8.8.8/"), "8.8.8.8")
    const strict = yield* makeCheck({})
    assert.strictEqual(yield* strict(`https://${address}/`), "address")
  }))

it.effect("requires every address of a name to be public or in a network", () =>
  Effect.gen(function*() {
    const check = yield* makeCheck({ allowedNetworks: ["10.20.0.0/16", "fd00:20::/32"] }, {
      "in.com": ["10.20.0.1", "fd00:20::1"],
      "mixed.com": ["8.8.8.8", "10.20.0.1"],
      "mapped.com": ["::ffff:10.20.0.1"],
      "beside.com": ["10.20.0.1", "10.21.0.1"],
      "six.com": ["10.20.0.1", "::1"],
      "many.com": Array.from({ length: 65 }, (_, index) => `10.20.0.${index}`)
    })
    assert.strictEqual(yield* check("https://in.com/"), "10.20.0.1 fd00:20::1")
    assert.strictEqual(yield* check("https://mixed.com/"), "8.8.8.8 10.20.0.1")
    assert.strictEqual(yield* check("https://mapped.com/"), "::ffff:10.20.0.1")
    for (const host of ["beside.com", "six.com", "many.com"]) {
      assert.strictEqual(yield* check(`https://${host}/`), "address", host)
    }
  }))

it.effect("allows http, other ports and private names only for hosts whose addresses are all in the networks", () =>
  Effect.gen(function*() {
    const hosts = {
      "in.com": ["10.20.0.1"],
      "receiver": ["10.20.0.1"],
      "hooks.internal": ["10.20.0.1", "10.20.0.2"],
      "mixed.com": ["8.8.8.8", "10.20.0.1"],
      "mixed.internal": ["8.8.8.8", "10.20.0.1"],
      "out.internal": ["10.21.0.1"],
      "empty.internal": [],
      "out.com": ["8.8.8.8"]
    }
    const check = yield* makeCheck({ allowedNetworks: ["10.20.0.0/16"] }, hosts)
    for (const url of ["http://in.com/", "https://in.com:5678/", "http://10.20.0.1:8080/", "http://receiver/"]) {
      assert.strictEqual(yield* check(url), "10.20.0.1", url)
    }
    assert.strictEqual(yield* check("http://hooks.internal:8080/"), "10.20.0.1 10.20.0.2")
    assert.strictEqual(yield* check("http://mixed.com/"), "scheme")
    assert.strictEqual(yield* check("https://mixed.com:5678/"), "port")
    assert.strictEqual(yield* check("http://out.com/"), "scheme")
    assert.strictEqual(yield* check("http://unknown.com/"), "scheme")
    // The error does not reveal which private names exist.
    for (const host of ["mixed.internal", "out.internal", "empty.internal", "unknown.internal", "localhost"]) {
      assert.strictEqual(yield* check(`https://${host}/`), "address", host)
    }
    assert.strictEqual(yield* check("http://u:p@in.com/"), "scheme")
    assert.strictEqual(yield* check("https://u:p@in.com/"), "user_info")
    assert.strictEqual(yield* check("ftp://in.com/"), "scheme")
    const strict = yield* makeCheck({}, hosts)
    assert.strictEqual(yield* strict("http://in.com/"), "scheme")
    assert.strictEqual(yield* strict("https://hooks.internal/"), "address")
  }))

it.effect("resolves the host on each check, so that a name which leaves the network is rejected", () =>
  Effect.gen(function*() {
    let address = "10.20.0.1"
    const lookup = { addresses: () => Effect.sync(() => [address]), aliases: () => Effect.succeed([]) }
    const check = yield* makeCheck({ allowedNetworks: ["10.20.0.0/16"], lookup })
    assert.strictEqual(yield* check("http://hooks.com/"), address)
    address = "127.0.0.1"
    assert.strictEqual(yield* check("http://hooks.com/"), "scheme")
    assert.strictEqual(yield* check("https://hooks.com/"), "address")
  }))

it.effect("rejects addresses of this machine in a network, unless they are listed by themselves", () =>
  Effect.gen(function*() {
    const machineAddresses = () => ["10.20.0.1", "127.0.0.1"]
    const allowedNetworks = ["10.20.0.0/16", "127.0.0.0/8", "::1/128"]
    const check = yield* makeCheck({ allowedNetworks, machineAddresses })
    for (const host of ["10.20.0.1", "[::ffff:10.20.0.1]", "127.0.0.1", "127.0.0.2"]) {
      assert.strictEqual(yield* check(`https://${host}/`), "own_domain", host)
    }
    assert.strictEqual(yield* check("https://10.20.0.2/"), "10.20.0.2")
    assert.strictEqual(yield* check("https://[::1]/"), "::1")
    const own = yield* makeCheck({ allowedNetworks: ["10.20.0.1", "127.0.0.1/32"], machineAddresses })
    assert.strictEqual(yield* own("http://10.20.0.1:8080/"), "10.20.0.1")
    assert.strictEqual(yield* own("https://127.0.0.1/"), "127.0.0.1")
    const every = yield* makeCheck({ allowedNetworks: ["0.0.0.0/0"], machineAddresses })
    assert.strictEqual(yield* every("https://0.0.0.0/"), "own_domain")
  }))

it.effect("rejects own domains and their addresses in a network, also as mapped addresses", () =>
  Effect.gen(function*() {
    const check = yield* makeCheck({ allowedNetworks: ["10.20.0.0/16"], ownDomains: ["kinora.dev"] }, {
      "kinora.dev": ["10.20.0.9"],
      "same.internal": ["::ffff:10.20.0.9"],
      "other.internal": ["10.20.0.8"]
    })
    for (const url of ["http://kinora.dev/", "https://10.20.0.9/", "http://10.20.0.9/", "https://same.internal/"]) {
      assert.strictEqual(yield* check(url), "own_domain", url)
    }
    assert.strictEqual(yield* check("http://other.internal/"), "10.20.0.8")
  }))

it.effect.each<readonly [string, RegExp]>([
  ["", /^"" is not a network; expected an address, or a network such as 10\.20\.0\.0\/16/],
  ["10.20.0.0/33", /is not a network/],
  ["10.20.0.0/", /is not a network/],
  ["10.20.0.0/016", /is not a network/],
  ["10.20.0.0/-1", /is not a network/],
  ["10.20.0.0/255.255.0.0", /is not a network/],
  ["10.20/16", /is not a network/],
  ["0x0a.20.0.0/16", /is not a network/],
  ["10.20.0.0/16, 10.21.0.0/16", /is not a network/],
  ["hooks.internal", /is not a network/],
  ["fd00::/129", /is not a network/],
  ["[fd00::]/32", /is not a network/],
  ["fe80::1%eth0", /is not a network/],
  ["::ffff:0:0/95", /is not a network/],
  ["10.20.0.5/16", /did you mean the network 10\.20\.0\.0\/16 or the address 10\.20\.0\.5\?$/],
  ["fd00:20::1/32", /did you mean the network fd00:20::\/32 or the address fd00:20::1\?$/]
])("does not start with the network \"%s\"", ([network, message]) =>
  Effect.gen(function*() {
    const exit = yield* Effect.exit(AddressGuard.make({ allowedNetworks: ["10.0.0.0/8", network] }))
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    assert.instanceOf(error, TypeError)
    assert.match(error.message, message)
    assert.isFalse(AddressGuard.isNetwork(network))
    assert.isTrue(AddressGuard.isNetwork("10.0.0.0/8"))
  }))
