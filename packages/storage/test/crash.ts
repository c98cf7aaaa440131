/** A process that is killed in the middle of a put. Its argument is the directory. */
import { Effect, Stream } from "effect"
import { BlobStore } from "../src/BlobStore.ts"
import * as FileBlobStore from "../src/FileBlobStore.ts"

const [, , directory = ""] = process.argv

const stream = Stream.succeed(new Uint8Array(100_000)).pipe(
  Stream.concat(Stream.fromEffectDrain(Effect.sync(() => process.kill(process.pid, "SIGKILL")))),
  Stream.concat(Stream.never)
)

await BlobStore.use(({ put }) => put("crashed", stream, { bytesMax: 1_000_000, contentType: "video/mp4" })).pipe(
  Effect.provide(FileBlobStore.layer({ directory })),
  Effect.runPromise
)
