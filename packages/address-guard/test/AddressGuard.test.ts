import { assert, it, vi } from "@effect/vitest"
import { Effect, Fiber, Option, References, Result } from "effect"
import { TestClock } from "effect/testing"
import { syncBuiltinESMExports } from "node:module"
import os from "node:os"
import * as AddressGuard from "../src/AddressGuard.ts"

interface Hosts {
  readonly [name: string]: ReadonlyArray<string>
}

/** A lookup that reads a table and counts its calls. */
const lookupOf = (hosts: Hosts, aliases: Hosts = {}) => {
  const asked: Array<string> = []
  const lookup: AddressGuard.Lookup = {
    addresses: (name) =>
      Effect.sync(() => {
        asked.push(name)
        return hosts[name] ?? []
      }),
    aliases: (name) => Effect.succeed(aliases[name] ?? [])
  }
  return { asked, lookup }
}

/** Every name has a public address, so that only the URL itself can be rejected. */
const everywhere: AddressGuard.Lookup = {
  addresses: () => Effect.succeed(["93.184.216.34"]),
  aliases: () => Effect.succeed([])
}

const problemOf = (options: AddressGuard.AddressGuardOptions, url: string) =>
  AddressGuard.make(options).pipe(
    Effect.flatMap((guard) => Effect.result(guard.check(url))),
    Effect.map((result) => Result.isFailure(result) ? result.failure.problem : result.success.url.href)
  )

it.effect.each<readonly [string, string]>([
  ["", "url"],
  ["hooks.example.com/path", "url"],
  ["//hooks.example.com", "url"],
  ["/path", "url"],
  ["https://", "url"],
  ["https:///", "url"],
  ["https://?", "url"],
  ["https://.", "url"],
  ["https://..", "url"],
  ["https://a..b.com", "url"],
  ["https://.hooks.com", "url"],
  ["https://hooks.com..", "url"],
  ["https://hooks .com", "url"],
  ["https://hooks%20.com", "url"],
  ["https://hooks.com:99999", "url"],
  ["https://hooks.com:-443", "url"],
  ["https://hooks.com:443a", "url"],
  ["https://*.hooks.com", "url"],
  ["https://-hooks.com", "url"],
  ["https://hooks-.com", "url"],
  [`https://${"a".repeat(64)}.com`, "url"],
  [`https://${"a.".repeat(126)}com`, "url"],
  [`https://hooks.com/${"a".repeat(2_031)}`, "url"],
  // Longer in ASCII.
  [`https://hooks.com/${"ü".repeat(1_000)}`, "url"],
  ["https://hooks.com/#fragment", "url"],
  ["https://hooks.com/#", "url"],
  // Zone ids and other texts that the URL parser rejects.
  ["https://[fe80::1%25eth0]/", "url"],
  ["https://[fe80::1%eth0]/", "url"],
  ["https://[::1", "url"],
  ["https://::1/", "url"],
  ["https://[::ffff:256.0.0.1]/", "url"],
  ["https://256.0.0.1/", "url"],
  ["https://1.2.3.4.5/", "url"],
  ["https://0x100000000/", "url"],
  ["https://4294967296/", "url"],
  ["https://127.0.0.0x1.0.0/", "url"],
  ["https://127.0.0.09/", "url"],
  // Invalid international names.
  ["https://xn--/", "url"],
  ["https://\u00ad/", "url"],
  ["https://hooks\u2100.com/", "url"],
  ["http://hooks.com/", "scheme"],
  ["ftp://hooks.com/", "scheme"],
  ["file:///etc/passwd", "scheme"],
  ["gopher://127.0.0.1:6379/_FLUSHALL", "scheme"],
  ["ws://hooks.com/", "scheme"],
  ["wss://hooks.com/", "scheme"],
  ["javascript:alert(1)", "scheme"],
  ["data:text/plain,x", "scheme"],
  ["blob:https://hooks.com/1", "scheme"],
  ["HTTP://hooks.com/", "scheme"],
  ["https://user@hooks.com/", "user_info"],
  ["https://user:secret@hooks.com/", "user_info"],
  ["https://:secret@hooks.com/", "user_info"],
  ["https://hooks.com@127.0.0.1/", "user_info"],
  ["https://hooks.com%00@127.0.0.1/", "user_info"],
  ["https://127.0.0.1:443@hooks.com/", "user_info"],
  ["https://hooks.com:80/", "port"],
  ["https://hooks.com:22/", "port"],
  ["https://hooks.com:6379/", "port"],
  ["https://hooks.com:0/", "port"],
  ["https://hooks.com:4430/", "port"],
  ["https://hooks.com:65535/", "port"],
  ["https://localhost/", "address"],
  ["https://LOCALHOST/", "address"],
  ["https://localhost./", "address"],
  ["https://localhost:8443/", "address"],
  ["https://foo.localhost/", "address"],
  ["https://foo.localhost./", "address"],
  ["https://localhost%2e/", "address"],
  ["https://%6cocalhost/", "address"],
  ["https://ｌｏｃａｌｈｏｓｔ/", "address"],
  ["https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "address"],
  ["https://postgres/", "address"],
  ["https://com/", "address"],
  ["https://printer.local/", "address"],
  ["https://metadata.google.internal/", "address"],
  ["https://metadata.google.internal./", "address"],
  ["https://METADATA.GOOGLE.INTERNAL/", "address"],
  ["https://router.home.arpa/", "address"],
  ["https://hidden.onion/", "address"],
  ["https://hooks.test/", "address"],
  ["https://hooks.invalid/", "address"],
  ["https://hooks.example/", "address"],
  ["https://printer\u3002local/", "address"],
  ["https://127.0.0.1/", "address"],
  ["https://127.0.0.1./", "address"],
  ["https://127.0.0.1:8443/", "address"],
  ["https://127.1/", "address"],
  ["https://127.0.1/", "address"],
  ["https://0x7f.1/", "address"],
  ["https://0X7F.1/", "address"],
  ["https://0x7f000001/", "address"],
  ["https://0x7f.0x0.0x0.0x1/", "address"],
  ["https://2130706433/", "address"],
  ["https://017700000001/", "address"],
  ["https://0177.0.0.1/", "address"],
  ["https://0177.0.0.01/", "address"],
  ["https://00000177.1/", "address"],
  ["https://%31%32%37.0.0.1/", "address"],
  ["https://127%2e0%2e0%2e1/", "address"],
  ["https://①②⑦.⓪.⓪.①/", "address"],
  ["https://１２７.０.０.１/", "address"],
  ["https://127\u30020\u30020\u30021/", "address"],
  ["https://127\uff0e0\uff0e0\uff0e1/", "address"],
  ["https://127\uff610\uff610\uff611/", "address"],
  ["https://1\u00ad27.0.0.1/", "address"],
  ["https://127.0.0\t.1/", "address"],
  ["https://127.0.0\n.1/", "address"],
  ["\u0000 https://127.0.0.1/ ", "address"],
  ["https:127.0.0.1", "address"],
  ["https:/127.0.0.1", "address"],
  ["https:\\\\127.0.0.1\\path", "address"],
  ["https://127.0.0.1\\@hooks.com/", "address"],
  ["https://127.0.0.1?@hooks.com/", "address"],
  ["https://0/", "address"],
  ["https://0.0.0.0/", "address"],
  ["https://10.0.0.1/", "address"],
  ["https://012.0.0.1/", "address"],
  ["https://100.100.100.200/", "address"],
  ["https://169.254.169.254/latest/meta-data/", "address"],
  ["https://0xa9fea9fe/", "address"],
  ["https://2852039166/", "address"],
  ["https://0251.0376.0251.0376/", "address"],
  ["https://169.254.43518/", "address"],
  ["https://172.16.0.1/", "address"],
  ["https://192.168.0.1/", "address"],
  ["https://192.0.2.1/", "address"],
  ["https://198.18.0.1/", "address"],
  ["https://224.0.0.1/", "address"],
  ["https://255.255.255.255/", "address"],
  ["https://4294967295/", "address"],
  ["https://[::]/", "address"],
  ["https://[::1]/", "address"],
  ["https://[::1]:8443/", "address"],
  ["https://[0:0:0:0:0:0:0:1]/", "address"],
  ["https://[0000:0000:0000:0000:0000:0000:0000:0001]/", "address"],
  ["https://[::127.0.0.1]/", "address"],
  ["https://[::ffff:127.0.0.1]/", "address"],
  ["https://[::FFFF:7F00:1]/", "address"],
  ["https://[::ffff:0:127.0.0.1]/", "address"],
  ["https://[64:ff9b::169.254.169.254]/", "address"],
  ["https://[64:ff9b:1::a00:1]/", "address"],
  ["https://[2002:7f00:1::]/", "address"],
  ["https://[2001:0:4136:e378:8000:63bf:80ff:fffe]/", "address"],
  ["https://[2a00:1450::5efe:10.0.0.1]/", "address"],
  ["https://[fe80::1]/", "address"],
  ["https://[fec0::1]/", "address"],
  ["https://[fc00::1]/", "address"],
  ["https://[fd00:ec2::254]/", "address"],
  ["https://[ff02::1]/", "address"],
  ["https://[2001:db8::1]/", "address"],
  ["https://[3fff::1]/", "address"],
  ["https://[5f00::1]/", "address"],
  ["https://[100::1]/", "address"],
  ["https://kinora.dev/", "own_domain"],
  ["https://KINORA.dev./", "own_domain"],
  ["https://api.kinora.dev:8443/hook", "own_domain"],
  ["https://kinora\u3002dev/", "own_domain"],
  ["https://ｋｉｎｏｒａ.dev/", "own_domain"],
  ["https://8.8.4.4/", "own_domain"]
])(
  "rejects %j because of its %s, regardless of what it resolves to",
  ([url, problem]) =>
    Effect.gen(function*() {
      const options = { lookup: everywhere, ownDomains: ["Kinora.dev.", "8.8.4.4"], ownAddresses: false }
      assert.strictEqual(yield* problemOf(options, url), problem)
    })
)

it.effect.each<readonly [string, string]>([
  ["https://hooks.com", "https://hooks.com/"],
  ["https://hooks.com:443/a?b=c", "https://hooks.com/a?b=c"],
  ["https://hooks.com:8443/", "https://hooks.com:8443/"],
  ["HTTPS://Hooks.COM/Path", "https://hooks.com/Path"],
  ["https://hooks.com./", "https://hooks.com/"],
  ["https://under_score.hooks.com/", "https://under_score.hooks.com/"],
  ["https://münchen.de/", "https://xn--mnchen-3ya.de/"],
  ["https://例え.テスト.jp/", "https://xn--r8jz45g.xn--zckzah.jp/"],
  ["https://8.8.8.8/", "https://8.8.8.8/"],
  ["https://134744072/", "https://8.8.8.8/"],
  ["https://[2606:4700:4700::1111]/", "https://[2606:4700:4700::1111]/"],
  ["https://localhost.com/", "https://localhost.com/"],
  ["https://notkinora.dev/", "https://notkinora.dev/"],
  ["https://kinora.dev.com/", "https://kinora.dev.com/"],
  [`https://hooks.com/${"a".repeat(2_030)}`, `https://hooks.com/${"a".repeat(2_030)}`]
])("accepts %j and normalizes it to %j", ([url, written]) =>
  Effect.gen(function*() {
    assert.strictEqual(
      yield* problemOf({ lookup: everywhere, ownDomains: ["kinora.dev"], ownAddresses: false }, url),
      written
    )
  }))

it.effect("returns every checked address, IPv4 first", () =>
  Effect.gen(function*() {
    const { lookup } = lookupOf({ "hooks.com": ["2606:4700::1", "1.1.1.1", "1.0.0.1"] })
    const guard = yield* AddressGuard.make({ lookup })
    const { addresses } = yield* guard.check("https://hooks.com/")
    assert.deepStrictEqual(addresses, ["1.1.1.1", "1.0.0.1", "2606:4700::1"])
  }))

it.effect("returns literal addresses unchanged, without a lookup", () =>
  Effect.gen(function*() {
    const { asked, lookup } = lookupOf({})
    const guard = yield* AddressGuard.make({ lookup })
    assert.deepStrictEqual((yield* guard.check("https://[2606:4700::1]/")).addresses, ["2606:4700::1"])
    assert.deepStrictEqual(asked, [])
  }))

it.effect.each<readonly [string, ReadonlyArray<string>]>([
  ["one private among public ones", ["8.8.8.8", "10.0.0.1"]],
  ["a private IPv6 beside a public IPv4", ["8.8.8.8", "fd00::1"]],
  ["only a private IPv6", ["fe80::1"]],
  ["a mapped address", ["::ffff:8.8.8.8"]],
  ["an invalid address", ["8.8.8.8", "hooks.com"]],
  ["more addresses than allowed", Array.from({ length: 65 }, (_, index) => `8.8.8.${index}`)]
])("rejects a host with %s", ([, addresses]) =>
  Effect.gen(function*() {
    const { lookup } = lookupOf({ "hooks.com": addresses })
    const guard = yield* AddressGuard.make({ lookup })
    const refused = yield* Effect.flip(guard.check("https://hooks.com/"))
    assert.strictEqual(refused.problem, "address")
    for (const address of addresses) assert.notInclude(refused.message, address)
  }))

it.effect("rejects a host that has no address or cannot be resolved", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* problemOf(lookupOf({}), "https://hooks.com/"), "dns")
    const lookup = { ...everywhere, addresses: () => Effect.fail(new AddressGuard.LookupFailed()) }
    assert.strictEqual(yield* problemOf({ lookup }, "https://hooks.com/"), "dns")
  }))

it.effect("rejects a host whose lookup exceeds the time limit", () =>
  Effect.gen(function*() {
    const lookup = { ...everywhere, addresses: () => Effect.never }
    const checking = yield* Effect.forkChild(problemOf({ lookup }, "https://hooks.com/"))
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual(yield* Fiber.join(checking), "dns")
  }))

it.effect.each(["1.1.1.1", "[2606:4700::1]", "https.kinora.dev"])(
  "rejects a host that shares an address with an own domain: %s",
  (own) =>
    Effect.gen(function*() {
      const addresses = ["1.1.1.1", "2606:4700::1"]
      const { lookup } = lookupOf({ "hooks.com": addresses, "https.kinora.dev": addresses.slice(1) })
      assert.strictEqual(yield* problemOf({ lookup, ownDomains: [own] }, "https://hooks.com/"), "own_domain")
    })
)

it.effect("waits at most two seconds for own domains", () =>
  Effect.gen(function*() {
    const lookup: AddressGuard.Lookup = {
      ...everywhere,
      addresses: (name) => name === "kinora.dev" ? Effect.never : everywhere.addresses(name)
    }
    const checking = yield* Effect.forkChild(problemOf({ lookup, ownDomains: ["kinora.dev"] }, "https://hooks.com/"))
    yield* TestClock.adjust("2 seconds")
    assert.strictEqual(yield* Fiber.join(checking), "https://hooks.com/")
  }))

it.effect("caches the addresses of own domains for 30 seconds, and falls back to the last known ones", () =>
  Effect.gen(function*() {
    let own: Effect.Effect<ReadonlyArray<string>, AddressGuard.LookupFailed> = Effect.succeed(["1.1.1.1"])
    const { lookup } = lookupOf({ "one.com": ["1.1.1.1"], "two.com": ["2.2.2.2"] })
    const guard = yield* AddressGuard.make({
      lookup: { ...lookup, addresses: (name) => name === "kinora.dev" ? own : lookup.addresses(name) },
      ownDomains: ["kinora.dev"]
    })
    const refused = Effect.filter(["one", "two"], (name) => Effect.isFailure(guard.check(`https://${name}.com/`)))
    assert.deepStrictEqual(yield* refused, ["one"])
    own = Effect.succeed(["2.2.2.2"])
    yield* TestClock.adjust("31 seconds")
    assert.deepStrictEqual(yield* refused, ["two"])
    own = Effect.fail(new AddressGuard.LookupFailed())
    yield* TestClock.adjust("31 seconds")
    assert.deepStrictEqual(yield* refused, ["two"])
  }))

it.effect("resolves the host on each check", () =>
  Effect.gen(function*() {
    const { asked, lookup } = lookupOf({ "hooks.com": ["8.8.8.8"] })
    const guard = yield* AddressGuard.make({ lookup })
    yield* guard.check("https://hooks.com/")
    yield* guard.check("https://hooks.com/")
    assert.deepStrictEqual(asked, ["hooks.com", "hooks.com"])
  }))

it.effect("allows schemes, ports, addresses and own domains, but no user info, if private addresses are allowed", () =>
  Effect.gen(function*() {
    const { lookup } = lookupOf({ "receiver": ["10.0.0.1"] })
    const options = { allowPrivate: true, lookup, ownDomains: ["receiver"] }
    assert.strictEqual(yield* problemOf(options, "http://receiver:3000/hook"), "http://receiver:3000/hook")
    assert.strictEqual(yield* problemOf(options, "http://127.0.0.1:3000/"), "http://127.0.0.1:3000/")
    assert.strictEqual(yield* problemOf(options, "http://[::1]/"), "http://[::1]/")
    assert.strictEqual(yield* problemOf(options, "http://user@receiver/"), "user_info")
    assert.strictEqual(yield* problemOf(options, "ftp://receiver/"), "scheme")
    assert.strictEqual(yield* problemOf(options, "http://nobody/"), "dns")
  }))

it.effect("resolves names of the hosts file if private addresses are allowed", () =>
  Effect.gen(function*() {
    const guard = yield* AddressGuard.make({ allowPrivate: true })
    const { addresses } = yield* guard.check("http://localhost:3000/")
    assert.includeMembers(["127.0.0.1", "::1"], [...addresses])
  }))

it.effect("rejects public addresses of this machine, as they are at the time of the check", () =>
  Effect.gen(function*() {
    let ofMachine: ReadonlyArray<string> = []
    const { lookup } = lookupOf({ "one.hooks.com": ["93.184.216.34"], "six.hooks.com": ["1.1.1.1", "2a00:1450::0:1"] })
    const guard = yield* AddressGuard.make({ lookup, machineAddresses: () => ofMachine })
    const urls = ["https://one.hooks.com", "https://93.184.216.34", "https://six.hooks.com", "https://[2a00:1450::1]"]
    const problems = Effect.forEach(
      urls,
      (url) =>
        Effect.map(
          Effect.result(guard.check(url)),
          (result) => Result.isFailure(result) ? result.failure.problem : "none"
        )
    )
    assert.deepStrictEqual(yield* problems, ["none", "none", "none", "none"])
    ofMachine = ["127.0.0.1", "93.184.216.34"]
    assert.deepStrictEqual(yield* problems, ["own_domain", "own_domain", "none", "none"])
    ofMachine = ["2A00:1450:0::1"]
    assert.deepStrictEqual(yield* problems, ["none", "none", "own_domain", "own_domain"])
  }))

it.effect("takes the addresses of this machine from its network interfaces by default", () => {
  const address = "93.184.216.34"
  const entry = { address, family: "IPv4", netmask: "255.255.255.0", cidr: null, mac: "02:00:00:00:00:01" } as const
  return Effect.gen(function*() {
    const guard = yield* AddressGuard.make({ lookup: everywhere })
    yield* guard.check("https://hooks.example.com")
    vi.spyOn(os, "networkInterfaces").mockReturnValue({ eth0: [{ ...entry, internal: false }], eth1: undefined })
    syncBuiltinESMExports()
    const { problem } = yield* Effect.flip(guard.check("https://hooks.example.com"))
    assert.strictEqual(problem, "own_domain")
  }).pipe(Effect.ensuring(Effect.sync(() => {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  })))
})

it.effect("allows addresses of this machine with `allowPrivate`", () =>
  Effect.gen(function*() {
    const guard = yield* AddressGuard.make({ allowPrivate: true, machineAddresses: () => ["93.184.216.34"] })
    assert.strictEqual((yield* guard.check("https://93.184.216.34")).addresses[0], "93.184.216.34")
  }))

it.each<readonly [string, boolean]>([
  ["https://media.example.com:8443", true],
  ["https://1.1.1.1", true],
  ["https://[2606:4700::1]", true],
  ["https://localhost", false],
  ["https://media.internal", false],
  ["https://media", false],
  ["https://192.168.1.1", false],
  ["https://[::1]", false]
])("tells that the host of %s is public: %s", (url, isPublic) => {
  assert.strictEqual(AddressGuard.hasPublicHost(new URL(url)), isPublic)
})

it.effect("a check has a span, and none while tracing is disabled", () =>
  Effect.gen(function*() {
    const names: Array<string | undefined> = []
    const guard = yield* AddressGuard.make({
      lookup: {
        addresses: () =>
          Effect.map(Effect.option(Effect.currentSpan), (span) => {
            names.push(Option.getOrUndefined(span)?.name)
            return ["93.184.216.34"]
          }),
        aliases: () => Effect.succeed([])
      }
    })
    const check = guard.check("https://hooks.example.com/")
    yield* check
    yield* Effect.provideService(check, References.TracerEnabled, false)
    assert.deepStrictEqual(names, ["AddressGuard.check", undefined])
  }))
