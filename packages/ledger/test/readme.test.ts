import { assert, it, vi } from "@effect/vitest"
import { Ledger } from "@kinora/ledger"
import { DateTime, Effect } from "effect"
import { readFile } from "node:fs/promises"
import { chargeJobs } from "../example/transaction.ts"

it("prints what the first example of the README prints", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/memory.ts")
  assert.deepStrictEqual(log.mock.calls, [[960]])
  log.mockRestore()
})

it("prints what the example of a part of a charge prints", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/refundPart.ts")
  assert.deepStrictEqual(log.mock.calls, [[75], [100]])
  log.mockRestore()
})

it("prints what the example of holds prints", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/hold.ts")
  assert.deepStrictEqual(log.mock.calls, [[60, 40], [75], ["released"], [75]])
  log.mockRestore()
})

it("prints what the example of an erasure prints", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/forget.ts")
  assert.deepStrictEqual(log.mock.calls, [[{ transactions: 3, credits: 60 }], [[]], [60]])
  log.mockRestore()
})

it("prints what the example of a statement prints", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/statement.ts")
  assert.deepStrictEqual(log.mock.calls, [
    ["2026-03-02", "grant", 100, 100],
    ["2026-03-05", "charge", -30, 70],
    ["2026-03-09", "refund", 30, 100]
  ])
  log.mockRestore()
})

it("prints what the example of lots prints", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/lots.ts")
  assert.deepStrictEqual(log.mock.calls, [[120, 20], [["beta"]], [3, { call: "c-17" }]])
  log.mockRestore()
})

it.effect("charges only for accepted jobs, as the README's unit of work does", () =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const at = yield* DateTime.now
    const expiresAt = DateTime.add(at, { days: 30 })
    yield* ledger.grant({ account: "ada", reference: "2026-11", kind: "plan", credits: 100, expiresAt, at })
    const charged = yield* chargeJobs("ada", ["a", "b", "c", "d"], (job) => job !== "a")
    assert.deepStrictEqual(charged, ["b", "c"])
    assert.strictEqual((yield* ledger.balances("ada", at)).credits, 20)
  }).pipe(Effect.provide(Ledger.layerMemory)))

it("shows the examples in the README", async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8")
  const readme = await read("../README.md")
  for (
    const example of [
      "memory",
      "postgres",
      "transaction",
      "promise",
      "refundPart",
      "hold",
      "lots",
      "statement",
      "forget",
      "schema"
    ]
  ) {
    assert.include(readme, await read(`../example/${example}.ts`))
  }
  assert.include(readme, await read("./contract.test.ts"))
})
