import { assert, it } from "@effect/vitest"
import { Certificates, Example } from "@kinora/testkit"
import { Effect } from "effect"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { statusOf } from "../example/request.ts"
import * as AddressGuard from "../src/AddressGuard.ts"

const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))

const examples = [
  ["memory", () => import("../example/memory.ts")],
  ["networks", () => import("../example/networks.ts")]
] as const

it.live.each(examples)("the example %s of the README prints what it shows", ([name, load]) =>
  Effect.gen(function*() {
    const lines = yield* Example.printed(load)
    const source = yield* read(`../example/${name}.ts`)
    const shown = source.split("\n").filter((line) => line.startsWith("// ")).map((line) => line.slice(3))
    assert.deepStrictEqual(lines.split("\n"), shown)
  }))

it.live("the request of the README connects only to the checked addresses, and verifies the certificate of the host", () =>
  Effect.gen(function*() {
    const authority = yield* Certificates.makeAuthority
    const certificate = yield* authority.issue({ names: ["hooks.com"] })
    const server = createServer(certificate, (_, response) => void response.writeHead(204).end())
    yield* Effect.acquireRelease(
      Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
      () => Effect.promise(() => once(server.close(), "close"))
    )
    const { port } = server.address() as AddressInfo
    const lookup = { addresses: () => Effect.succeed(["127.0.0.1"]), aliases: () => Effect.succeed([]) }
    const guard = (allowPrivate: boolean) => AddressGuard.layerWith({ allowPrivate, lookup, ports: [port] })

    const status = (host: string, allowPrivate: boolean) =>
      Effect.provide(statusOf(`https://${host}:${port}/`, authority.ca), guard(allowPrivate))
    assert.strictEqual(yield* status("hooks.com", true), 204)
    assert.include(String(yield* Effect.flip(status("other.com", true))), "does not match certificate")
    assert.include(String(yield* Effect.flip(status("hooks.com", false))), "public addresses only")
  }))

it.effect("the README shows the examples as they run", () =>
  Effect.gen(function*() {
    const readme = yield* read("../README.md")
    for (const example of ["memory", "networks", "request"]) {
      assert.include(readme, yield* read(`../example/${example}.ts`))
    }
  }))
