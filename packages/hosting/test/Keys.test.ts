import { assert, it } from "@effect/vitest"
import { Effect, Logger, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { mkdtemp, readdir, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Keys from "../src/Keys.ts"

const settingsOf = (dataDirectory: string, configured: ReadonlyArray<Redacted.Redacted> = []): Keys.KeySettings => ({
  databaseUrl: undefined,
  dataDirectory,
  urlSigningKeys: configured,
  webhookKeys: configured
})

const withDirectory = <A, E, R>(use: (directory: string) => Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-keys-"))),
    use,
    (directory) => Effect.promise(() => rm(directory, { recursive: true }))
  )

it.effect("returns one key to processes that start together, in a file that only their user can read", () =>
  withDirectory((dataDirectory) =>
    Effect.gen(function*() {
      const starts = Array.from({ length: 16 }, () => Keys.urlSigning(settingsOf(dataDirectory)))
      const keys = yield* Effect.all(starts, { concurrency: "unbounded" })
      const texts = new Set(keys.flat().map(Redacted.value))
      assert.strictEqual(texts.size, 1)
      assert.isAtLeast([...texts][0]!.length, 43)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(dataDirectory)), ["url-signing-key"])
      const { mode } = yield* Effect.promise(() => stat(join(dataDirectory, "url-signing-key")))
      assert.strictEqual(mode & 0o777, 0o600)
    })
  ).pipe(Effect.provide(SecureRandom.layerWebCrypto)))

it.effect("keeps one key per purpose across starts", () =>
  withDirectory((dataDirectory) =>
    Effect.gen(function*() {
      const [signing] = yield* Keys.urlSigning(settingsOf(dataDirectory))
      const [sealing] = yield* Keys.webhooks(settingsOf(dataDirectory))
      assert.notStrictEqual(Redacted.value(signing), Redacted.value(sealing))
      const [again] = yield* Keys.webhooks(settingsOf(dataDirectory))
      assert.strictEqual(Redacted.value(again), Redacted.value(sealing))
      const files = yield* Effect.promise(() => readdir(dataDirectory))
      assert.deepStrictEqual(files.toSorted(), ["url-signing-key", "webhook-key"])
    })
  ).pipe(Effect.provide(SecureRandom.layerWebCrypto)))

it.effect("returns the configured keys and writes no file", () =>
  withDirectory((dataDirectory) =>
    Effect.gen(function*() {
      const configured = [Redacted.make("first"), Redacted.make("second")]
      const signing: ReadonlyArray<unknown> = yield* Keys.urlSigning(settingsOf(dataDirectory, configured))
      const sealing: ReadonlyArray<unknown> = yield* Keys.webhooks(settingsOf(dataDirectory, configured))
      assert.deepStrictEqual([signing, sealing], [configured, configured])
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(dataDirectory)), [])
    })
  ).pipe(Effect.provide(SecureRandom.layerWebCrypto)))

it.effect("logs once that other processes need the generated key, if the database can be shared", () =>
  withDirectory((dataDirectory) =>
    Effect.gen(function*() {
      const lines: Array<unknown> = []
      const log = Logger.layer([Logger.make(({ message }) => lines.push(...[message].flat()))])
      const settings = { ...settingsOf(dataDirectory), databaseUrl: Redacted.make("postgres://localhost/kinora") }
      yield* Effect.replicateEffect(Keys.webhooks(settings), 2).pipe(Effect.provide(log))
      assert.deepStrictEqual(lines, [
        "Generated webhook-key. Processes with another data directory need the same keys: set KINORA_WEBHOOK_KEYS on all of them"
      ])
    })
  ).pipe(Effect.provide(SecureRandom.layerWebCrypto)))
