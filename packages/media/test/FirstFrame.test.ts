/** First frames, by programs in place of `ffmpeg`, and by `ffmpeg` itself where it is installed. */
import { assert, it } from "@effect/vitest"
import * as SmallDisk from "@kinora/testkit/SmallDisk"
import { Effect, Exit, Fiber, Option } from "effect"
import { spawnSync } from "node:child_process"
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import sharp from "sharp"
import * as Media from "../src/Media.ts"
import type { FrameOptions, MediaFile, VideoFacts } from "../src/MediaFile.ts"
import * as Videos from "./Videos.ts"

const file: MediaFile<never> = {
  bytes: Videos.mp4.length,
  read: (start, length) => Effect.sync(() => Videos.mp4.subarray(start, start + length))
}

/** A folder with a program that runs these shell commands, and a folder for its temporary files. */
const programOf = (commands: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await mkdtemp(join(tmpdir(), "kinora-program-"))
      const program = join(folder, "ffmpeg")
      await writeFile(program, `#!/bin/sh\n[ "$1" = -version ] && exit 0\ncd "${folder}"\n${commands}\n`)
      await chmod(program, 0o755)
      const directory = await mkdtemp(join(folder, "temporary-"))
      return { folder, program, directory }
    }),
    ({ folder }) => Effect.promise(() => rm(folder, { recursive: true }))
  )

const firstFrame = Effect.fnUntraced(function*(frame: FrameOptions, bytes = file.bytes) {
  const { firstFrame, probe } = yield* Media.make({ frame })
  const facts = yield* probe(file, "video/mp4")
  return yield* firstFrame({ ...file, bytes }, facts as VideoFacts)
})

const textOf = (...path: ReadonlyArray<string>) => Effect.promise(() => readFile(join(...path), "utf8"))

const assertEmpty = (directory: string) =>
  Effect.map(Effect.promise(() => readdir(directory)), (names) => assert.deepStrictEqual(names, []))

it.live("gives the program a copy of the file and no protocols of a network, and returns its output", () =>
  Effect.gen(function*() {
    const { directory, folder, program } = yield* programOf(
      "echo \"$@\" > arguments; env > environment; cp temporary-*/*/video copy; printf frame"
    )
    assert.deepStrictEqual(yield* firstFrame({ program, directory }), Option.some(Buffer.from("frame")))
    assert.match(yield* textOf(folder, "arguments"), /-protocol_whitelist file,pipe -f mov .*-i file:\S+\/video /u)
    assert.notInclude(yield* textOf(folder, "environment"), "HOME=")
    assert.deepStrictEqual(yield* Effect.promise(() => readFile(join(folder, "copy"))), Videos.mp4)
    yield* assertEmpty(directory)
  }).pipe(Effect.scoped))

it.live("removes the temporary directories of killed processes after a day", () =>
  Effect.gen(function*() {
    const { directory, program } = yield* programOf("printf frame")
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000)
    yield* Effect.promise(async () => {
      for (const [name, hours] of [["kinora-clip-old", 25], ["kinora-clip-new", 23], ["other", 25]] as const) {
        await mkdir(join(directory, name))
        await writeFile(join(directory, name, "video"), "")
        await utimes(join(directory, name), hoursAgo(hours), hoursAgo(hours))
      }
    })
    yield* firstFrame({ program, directory })
    const left = yield* Effect.promise(() => readdir(directory))
    assert.sameMembers(left, ["kinora-clip-new", "other"])
  }).pipe(Effect.scoped))

it.live("returns None if the program fails, takes too long, or writes too much", () =>
  Effect.gen(function*() {
    for (const commands of ["echo broken >&2; exit 1", "exec sleep 60", "exec cat /dev/zero"]) {
      const { directory, program } = yield* programOf(commands)
      const secondsMax = commands.includes("sleep") ? 0.5 : 30
      assert.deepStrictEqual(yield* firstFrame({ program, directory, secondsMax }), Option.none(), commands)
      yield* assertEmpty(directory)
    }
  }).pipe(Effect.scoped))

it.live("returns None while the disk of temporary files is full, and the frame when there is room", (context) =>
  Effect.gen(function*() {
    const { directory, program } = yield* programOf("printf frame")
    const disk = yield* SmallDisk.mount(directory, 1)
    if (disk === undefined) return yield* SmallDisk.missing(context)
    yield* disk.fill
    assert.deepStrictEqual(yield* firstFrame({ program, directory }), Option.none())
    yield* disk.free
    yield* assertEmpty(directory)
    assert.deepStrictEqual(yield* firstFrame({ program, directory }), Option.some(Buffer.from("frame")))
  }).pipe(Effect.scoped))

it.live("returns None without the program, and for a file above the limit", () =>
  Effect.gen(function*() {
    const { program } = yield* programOf("printf frame")
    assert.deepStrictEqual(yield* firstFrame({ program: "/nowhere/ffmpeg" }), Option.none())
    assert.deepStrictEqual(yield* firstFrame({ program, fileBytesMax: file.bytes - 1 }), Option.none())
  }).pipe(Effect.scoped))

it.live("kills the program on interruption, and removes the copy", () =>
  Effect.gen(function*() {
    const { directory, folder, program } = yield* programOf("mkfifo started; echo $$ > pid; : > started; exec sleep 60")
    const fiber = yield* Effect.forkChild(firstFrame({ program, directory }))
    const started = Effect.tryPromise(() => readFile(join(folder, "started")))
    yield* Effect.eventually(started)
    const pid = Number(yield* textOf(folder, "pid"))
    yield* Fiber.interrupt(fiber)
    yield* Effect.eventually(Effect.filterOrFail(Effect.exit(Effect.try(() => process.kill(pid, 0))), Exit.isFailure))
    yield* assertEmpty(directory)
  }).pipe(Effect.scoped))

/** `FFMPEG` is the path of a program that is not in a default folder. */
const ffmpeg = process.env["FFMPEG"] ?? "ffmpeg"
const isInstalled = spawnSync(ffmpeg, ["-version"], { env: {} }).status === 0

it.live("returns the first frame of a video with ffmpeg", (context) =>
  Effect.gen(function*() {
    if (!isInstalled && process.env["FFMPEG"] === undefined) return context.skip("NOT TESTED: ffmpeg is not installed")
    const frame = Option.getOrThrow(yield* firstFrame({ program: ffmpeg }))
    const { format, height, width } = yield* Effect.promise(() => sharp(frame).metadata())
    assert.deepStrictEqual([format, width, height], ["png", 16, 16])
  }).pipe(Effect.scoped))
