import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { mkdtemp, readdir, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as SigningKeys from "../src/SigningKeys.ts"

const withDirectory = <A, E, R>(use: (directory: string) => Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-keys-"))),
    use,
    (directory) => Effect.promise(() => rm(directory, { recursive: true }))
  )

it.effect("gives servers that start together on one directory the same key, and keeps it from others", () =>
  withDirectory((directory) =>
    Effect.gen(function*() {
      const starts = Array.from({ length: 16 }, () => SigningKeys.resolve([], directory))
      const keys = yield* Effect.all(starts, { concurrency: "unbounded" })
      const texts = new Set(keys.flat().map(Redacted.value))
      assert.strictEqual(texts.size, 1)
      assert.isAtLeast([...texts][0]!.length, 43)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(directory)), ["url-signing-key"])
      const { mode } = yield* Effect.promise(() => stat(join(directory, "url-signing-key")))
      assert.strictEqual(mode & 0o777, 0o600)
    })
  ).pipe(Effect.provide(SecureRandom.layerWebCrypto)))

it.effect("takes the configured keys, and then writes none", () =>
  withDirectory((directory) =>
    Effect.gen(function*() {
      const configured = [Redacted.make("first"), Redacted.make("second")]
      assert.deepStrictEqual<ReadonlyArray<unknown>>(yield* SigningKeys.resolve(configured, directory), configured)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(directory)), [])
    })
  ).pipe(Effect.provide(SecureRandom.layerWebCrypto)))
