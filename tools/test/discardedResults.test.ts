import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join, resolve } from "node:path"
import { afterAll, assert, beforeAll, it } from "vitest"
import * as discardedResults from "../lint/discardedResults.ts"

const root = resolve(import.meta.dirname, "../..")
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "kinora-results-"))
  await symlink(join(root, "node_modules"), join(directory, "node_modules"))
  const compilerOptions = { target: "ES2024", module: "NodeNext", strict: true, skipLibCheck: true, types: [] }
  await writeFile(join(directory, "package.json"), JSON.stringify({ type: "module" }))
  await writeFile(
    join(directory, "tsconfig.json"),
    JSON.stringify({ include: ["*.ts"], compilerOptions: { ...compilerOptions, lib: ["ES2024"] } })
  )
  await writeFile(join(directory, "sample.ts"), sample)
})

afterAll(() => rm(directory, { recursive: true, force: true }))

const sample = `
import { Effect, Result } from "effect"

declare const decide: (amount: number) => Result.Result<{ readonly left: number }, "empty">
declare const charge: (amount: number) => Effect.Effect<Result.Result<number, "empty">>
declare const chargeAll: (amounts: ReadonlyArray<number>) => Effect.Effect<ReadonlyArray<Result.Result<number, "empty">>>
declare const maybe: Result.Result<number, "empty"> | undefined
declare const refund: (amount: number) => Effect.Effect<number, "unknown">

export const run = Effect.gen(function*() {
  decide(1) // discarded
  yield* charge(1) // discarded
  yield* chargeAll([1]) // discarded
  maybe // discarded
  Result.succeed(1) // discarded
  yield* Effect.all([charge(1), charge(2)]) // discarded
  yield* Effect.forEach([1], charge, { discard: true }) // discarded
  yield* Effect.forEach([1], (amount) => chargeAll([amount]), { discard: true }) // discarded

  yield* refund(1)
  yield* Effect.forEach([1], refund, { discard: true })
  yield* Effect.asVoid(charge(1))
  void (yield* charge(1))
  const decided = decide(1)
  if (Result.isFailure(decided)) return yield* Effect.fail(decided.failure)
  const charged = yield* charge(decided.success.left)
  yield* Effect.fromResult(charged)
  return yield* Effect.forEach([1], charge)
})
`

it("reports every discarded result, and nothing else", () => {
  const found = discardedResults.find(join(directory, "tsconfig.json"), directory)
  const expected = sample.split("\n").flatMap((line, index) => line.endsWith("// discarded") ? [index + 1] : [])
  assert.deepStrictEqual(
    found.map(({ file, line }) => [basename(file), line]),
    expected.map((line) => ["sample.ts", line])
  )
})
