/** Inputs of more than 16 megapixels, which are decoded in a process of their own. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { existsSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { constants, tmpdir } from "node:os"
import { join } from "node:path"
import sharp from "sharp"
import * as Media from "../src/Media.ts"
import * as Images from "./Images.ts"
import { make } from "./Reading.ts"

/** A photo of 16.4 megapixels that lies on its side, by its metadata. */
const photo = () =>
  sharp({ create: { width: 5_120, height: 3_200, channels: 3, background: "teal" } }).withMetadata({
    orientation: 6
  })

it.effect("are made upright and without metadata in their own format", () =>
  Effect.gen(function*() {
    const { normalise } = yield* Media.Media
    for (
      const [mime, encoded] of [["image/jpeg", photo().jpeg()], ["image/webp", photo().webp({ effort: 0 })]] as const
    ) {
      const image = yield* normalise(yield* make(() => encoded.toBuffer()), { owner: "a" })
      assert.deepInclude(image, { mime, width: 3_200, height: 5_120 })
      const { exif, format, height, orientation, width } = yield* Effect.promise(() => sharp(image.bytes).metadata())
      assert.deepStrictEqual([`image/${format}`, width, height, orientation, exif], [
        mime,
        3_200,
        5_120,
        undefined,
        undefined
      ])
    }
  }).pipe(Effect.provide(Media.layer())))

it.effect("are made as small ones are: same bytes, previews too", () =>
  Effect.gen(function*() {
    const { normalise, preview } = yield* Media.Media
    const bytes = yield* make(() => Images.noise(4_100, 4_000).jpeg({ quality: 60 }).toBuffer())
    const copy = yield* normalise(bytes)
    const expected = yield* make(() =>
      sharp(bytes).jpeg({ quality: 90, chromaSubsampling: "4:4:4", optimiseCoding: false }).toBuffer()
    )
    assert.isTrue(expected.equals(copy.bytes))
    const [own, theirs] = [yield* preview(bytes), yield* preview(bytes, { owner: "a" })]
    assert.deepStrictEqual([theirs.mime, theirs.width, theirs.height], ["image/webp", own.width, own.height])
    assert.isTrue(Buffer.from(own.bytes).equals(theirs.bytes))
  }).pipe(Effect.provide(Media.layer({ inputBytesMax: 64 * 1024 ** 2 }))))

it.effect("are rejected as small ones are", () =>
  Effect.gen(function*() {
    const { normalise } = yield* Media.Media
    const bytes = yield* make(() => photo().png().toBuffer())
    const damaged = Buffer.from(bytes)
    damaged.fill(0, bytes.length >> 1, (bytes.length >> 1) + 100)
    const reasonOf = (work: Effect.Effect<unknown, { readonly reason: unknown }>) =>
      Effect.map(Effect.flip(work), ({ reason }) => reason)
    assert.deepInclude(yield* reasonOf(normalise(damaged)), { _tag: "Corrupt" })
    assert.deepInclude(yield* reasonOf(normalise(bytes, { resultBytesMax: 1_000 })), {
      _tag: "GrewTooLong",
      bytesMax: 1_000
    })
  }).pipe(Effect.provide(Media.layer())))

it.effect("have a process that is used again, replaced when it was killed, and ended without work", () =>
  Effect.gen(function*() {
    const node = yield* countedNode
    const { normalise } = yield* Media.make({ nodePath: node.path })
    const bytes = Images.bombPng(4_100)
    yield* Effect.repeat(normalise(bytes), { times: 2 })
    const [first, ...others] = yield* node.started
    assert.deepStrictEqual(others, [])

    process.kill(first!, "SIGKILL")
    yield* node.hasEnded(first!)
    yield* normalise(bytes)
    const [, second, ...more] = yield* node.started
    assert.deepStrictEqual(more, [])

    yield* TestClock.adjust("59 seconds")
    yield* normalise(bytes)
    assert.strictEqual((yield* node.started).length, 2)
    yield* TestClock.adjust("1 minute")
    yield* node.hasEnded(second!)
    yield* normalise(bytes)
    assert.strictEqual((yield* node.started).length, 3)
  }).pipe(Effect.scoped))

it.effect("have a process that ends with the layer", () =>
  Effect.gen(function*() {
    const node = yield* countedNode
    yield* Effect.scoped(
      Effect.flatMap(Media.make({ nodePath: node.path }), ({ normalise }) => normalise(Images.bombPng(4_100)))
    )
    const [only] = yield* node.started
    yield* node.hasEnded(only!)
  }).pipe(Effect.scoped))

it.effect("have nothing of the environment, the lowest priority, and a reason of their own if the process fails, on Linux", () =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    const [program, seen] = [join(directory, "node"), join(directory, "seen")]
    // The input arrives when the process is set up.
    const facts = "head -c 1 > /dev/null; env; cut -d' ' -f19 /proc/$$/stat; cat /proc/$$/oom_score_adj"
    const script = `#!/bin/sh\n{ ${facts}; } > '${seen}'\nexit 3\n`
    yield* Effect.promise(() => writeFile(program, script, { mode: 0o755 }))
    const bytes = Images.bombPng(4_100)
    const outcomes = yield* Effect.forEach([program, join(directory, "missing")], (nodePath) =>
      Effect.scoped(
        Effect.flatMap(Media.make({ nodePath }), ({ normalise }) => Effect.flip(normalise(bytes)))
      ))
    assert.deepStrictEqual(outcomes.map(({ reason }) => reason._tag), ["DecoderFailed", "DecoderFailed"])
    assert.match(outcomes[0]!.message, /because of an error of the service/)
    const lines = (yield* Effect.promise(() => readFile(seen, "utf8"))).trim().split("\n")
    assert.deepStrictEqual(lines.filter((line) => !/^(PWD|SHLVL|_|OLDPWD)=/.test(line)), [
      "MALLOC_MMAP_THRESHOLD_=131072",
      "MALLOC_ARENA_MAX=1",
      String(constants.priority.PRIORITY_LOW),
      "1000"
    ])
  }).pipe(Effect.scoped))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const temporaryDirectory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "large-inputs-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true }))
)

/** A Node that records the ids of its processes. */
const countedNode = Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  const [path, ids] = [join(directory, "node"), join(directory, "ids")]
  const script = `#!/bin/sh\necho $$ >> '${ids}'\nexec '${process.execPath}' "$@"\n`
  yield* Effect.promise(() => writeFile(path, script, { mode: 0o755 }))
  return {
    path,
    started: Effect.map(Effect.promise(() => readFile(ids, "utf8")), (text) => text.trim().split("\n").map(Number)),
    /** Waits until a process has ended and was waited for. */
    hasEnded: (id: number) => Effect.repeat(Effect.yieldNow, { until: () => !existsSync(`/proc/${id}`) })
  }
})
