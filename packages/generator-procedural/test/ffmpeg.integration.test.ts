import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chooseEncoder } from "../src/internal/clip/chooseEncoder.ts"
import { drawClip } from "../src/internal/clip/clip.ts"
import * as DrawingPool from "../src/internal/DrawingPool.ts"
import * as ProceduralGenerator from "../src/ProceduralGenerator.ts"
import { trackIn } from "./clip/boxes.ts"

const clip = { prompt: "bauhaus", key: "any", width: 64, height: 48, seconds: 2, references: [] }
const drawing = { ...clip, format: "mp4" } as const

/**
 * A program with the interface of `ffmpeg`, and the folder of its files: it counts the
 * bytes of its input, writes the path of its output to `path`, and copies `sample.mp4`.
 */
const program = (end: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await mkdtemp(join(tmpdir(), "kinora-program-"))
      const path = join(folder, "ffmpeg")
      const { file } = await drawClip(clip, null, () => undefined)
      await writeFile(join(folder, "sample.mp4"), file)
      await writeFile(
        path,
        `#!/bin/sh\nfor last; do :; done\ncd "${folder}"\nprintf %s "$last" > path\nprintf "%s " "$@" > arguments\n${end}\n`
      )
      await chmod(path, 0o755)
      return { folder, path }
    }),
    ({ folder }) => Effect.promise(() => rm(folder, { recursive: true }))
  )

const text = (...path: ReadonlyArray<string>) => Effect.promise(() => readFile(join(...path), "utf8"))

it.live("gives the program every frame, reads the file that it writes, and removes it", () =>
  Effect.gen(function*() {
    const { folder, path } = yield* program("wc -c > count\ncp sample.mp4 \"$last\"")
    const pool = yield* DrawingPool.make({ threads: 1, ffmpeg: Effect.succeed(path) })
    const { bytes } = yield* pool.draw(drawing)
    assert.deepInclude(trackIn(bytes), { codec: "avc1", width: 64, height: 48, seconds: 2 })
    assert.strictEqual(Number(yield* text(folder, "count")), 48 * 64 * 48 * 4)
    assert.match(yield* text(folder, "arguments"), /-s 64x48 -r 24 -i pipe:0 .*-c:v libx264/u)
    const written = yield* text(folder, "path")
    assert.strictEqual((yield* Effect.flip(Effect.tryPromise(() => stat(written))))._tag, "UnknownError")
  }).pipe(Effect.scoped))

it.live("fails a video with the message of the program, and draws the next one", () =>
  Effect.gen(function*() {
    const { path } = yield* program(
      "[ -e failed ] && cat > count && exec cp sample.mp4 \"$last\"\n: > failed\necho no room >&2\nexit 3"
    )
    const pool = yield* DrawingPool.make({ threads: 1, ffmpeg: Effect.succeed(path) })
    const error = yield* Effect.flip(pool.draw(drawing))
    assert.strictEqual(error._tag, "NotDrawn")
    assert.match(error.message, /ffmpeg ended with code 3: no room/u)
    assert.isAbove((yield* pool.draw(drawing)).bytes.length, 1000)
  }).pipe(Effect.scoped))

const chosen = (choice: ProceduralGenerator.EncoderChoice, path: string) => Effect.flatten(chooseEncoder(choice, path))

it.live("selects the program if it works, and only then", () =>
  Effect.gen(function*() {
    const [good, bad] = [yield* program("exit 0"), yield* program("exit 1")]
    assert.strictEqual(yield* chosen("auto", good.path), good.path)
    assert.strictEqual(yield* chosen("ffmpeg", good.path), good.path)
    assert.isUndefined(yield* chosen("wasm", good.path))
    for (const path of [bad.path, join(bad.folder, "missing")]) {
      assert.isUndefined(yield* chosen("auto", path))
      const error = yield* Effect.flip(chosen("ffmpeg", path))
      assert.instanceOf(error, ProceduralGenerator.FfmpegUnusable)
      assert.include(error.message, path)
    }
  }).pipe(Effect.scoped))

it.live("tries the program once, for the first video", () =>
  Effect.gen(function*() {
    const { folder, path } = yield* program("echo tried >> trials\nexit 1")
    const ffmpeg = yield* chooseEncoder("auto", path)
    const pool = yield* DrawingPool.make({ threads: 1, ffmpeg })
    yield* pool.draw({ ...drawing, seconds: null, format: "webp" })
    assert.isTrue(Exit.isFailure(yield* Effect.exit(text(folder, "trials"))))
    for (let video = 0; video < 2; video++) yield* pool.draw(drawing)
    assert.strictEqual(yield* text(folder, "trials"), "tried\n")
  }).pipe(Effect.scoped))
