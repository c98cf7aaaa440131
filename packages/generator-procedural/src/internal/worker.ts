/**
 * Entry of a worker thread. Draws one picture or video after the other.
 *
 * It imports neither Effect nor other packages of the workspace, so plain Node can run it from source.
 */
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import sharp from "sharp"
import { drawClip } from "./clip/clip.ts"
import type { Ffmpeg } from "./clip/encoders.ts"
import { draw, type Drawing } from "./picture.ts"

/** A drawing for the thread. Videos are encoded in WebAssembly if `ffmpeg` is `null`. */
export interface Order extends Drawing {
  readonly ffmpeg: Ffmpeg | null
}

/** The response of the thread to an `Order`. Any number of `Drawing` come first. */
export type Answer =
  | { readonly _tag: "Drawing"; readonly progress: number }
  | { readonly _tag: "Drawn"; readonly bytes: Uint8Array<ArrayBuffer>; readonly poster: Uint8Array<ArrayBuffer> | null }
  | { readonly _tag: "NotDrawn"; readonly message: string }

// Only Linux has a priority per thread. On other systems, the whole process would get it.
if (process.platform === "linux") setPriority(0, 10)
sharp.cache(false)
sharp.concurrency(1)

const send = (answer: Answer, transfer: ReadonlyArray<ArrayBuffer> = []) => parentPort?.postMessage(answer, transfer)

const perform = async ({ ffmpeg, seconds, ...drawing }: Order): Promise<void> => {
  if (seconds === null) {
    // Copies the bytes, since the memory is transferred to the other thread.
    const bytes = new Uint8Array(await draw(drawing))
    send({ _tag: "Drawn", bytes, poster: null }, [bytes.buffer])
    return
  }
  const report = (progress: number) => send({ _tag: "Drawing", progress })
  const { file, poster } = await drawClip({ ...drawing, seconds }, ffmpeg, report)
  const copied = new Uint8Array(poster)
  send({ _tag: "Drawn", bytes: file, poster: copied }, [file.buffer, copied.buffer])
}

parentPort?.on("message", (order: Order) => {
  perform(order).catch((cause: unknown) => send({ _tag: "NotDrawn", message: String(cause) }))
})
