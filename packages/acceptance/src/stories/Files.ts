/** The files of a story: each is complete for every reader, or cannot be read. */
import { Generations } from "@kinora/generations"
import type { Generation, GenerationId, StoredFile } from "@kinora/generations/Generation"
import { BlobStore } from "@kinora/storage"
import { Effect, Option, Result, Stream } from "effect"
import { Base64 } from "effect/encoding"
import { createHash } from "node:crypto"
import type { Surroundings } from "./Surroundings.ts"

/** The image that clients send, in Base64: a PNG of 3 by 2 pixels. */
export const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAEElEQVQImWM4ESACQQxwFgBKnAcJLDtDdwAAAABJRU5ErkJggg=="

/** The bytes of `png`. */
export const pngBytes = Result.getOrThrow(Base64.decode(png))

/** Downloads the result of a job. Returns a problem if the bytes differ from those of the job. */
export const download = Effect.fnUntraced(function*(account: string, job: GenerationId) {
  const { file } = yield* Generations.Generations
  const { get } = yield* BlobStore.BlobStore
  const { file: stored } = yield* file(job, "content", account)
  const bytes = yield* Stream.mkUint8Array(get(stored.key, { start: 0, end: stored.bytes - 1 }))
  return problemsOf(`a download of ${job}`, stored, bytes)
})

/** Returns a problem for each stored file that is incomplete or missing. */
export const check = Effect.fnUntraced(function*({ files, read }: Surroundings, jobs: ReadonlyArray<Generation>) {
  const results = yield* Effect.forEach(jobs, ({ id, output }) =>
    output === null ? Effect.succeed([]) : Effect.forEach(
      [output.content, output.preview, output.thumb].filter((file) => file !== null),
      // The media of stories stores the bytes of a result again as its small images.
      (file) => checkFile(read, `the result of ${id}`, { ...file, sha256: output.content.sha256 })
    ))
  const images = (yield* files).filter((key) => key.startsWith("images/"))
  const stored = yield* Effect.forEach(images, (key) => checkFile(read, "an image", imageOf(key)))
  return [...results.flat(2), ...stored.flat()]
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

const imageOf = (key: string): StoredFile => ({
  key,
  mime: "image/png",
  bytes: pngBytes.length,
  sha256: sha256Of(pngBytes)
})

const checkFile = (read: Surroundings["read"], name: string, stored: StoredFile) =>
  Effect.map(
    read(stored.key),
    Option.match({
      onNone: () => [`${name} is lost: ${stored.key}`],
      onSome: (bytes) => problemsOf(name, stored, bytes)
    })
  )

const problemsOf = (name: string, { bytes, key, sha256 }: StoredFile, read: Uint8Array): ReadonlyArray<string> =>
  read.length === bytes && sha256Of(read) === sha256
    ? []
    : [`${name} has ${read.length} bytes instead of ${bytes}, or others: ${key}`]
