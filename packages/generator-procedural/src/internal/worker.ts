/**
 * Entry of a worker thread. Draws one picture after the other.
 *
 * It imports neither Effect nor other packages of the workspace, so plain Node can run it from source.
 */
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import sharp from "sharp"
import { draw, type Drawing } from "./picture.ts"

/** The response of the thread to a `Drawing`. */
export type Answer =
  | { readonly _tag: "Drawn"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly _tag: "NotDrawn"; readonly message: string }

// Elsewhere this would slow down the whole process and not just the thread.
if (process.platform === "linux") setPriority(0, 10)
sharp.cache(false)
sharp.concurrency(1)

const answer = async (drawing: Drawing): Promise<Answer> => {
  try {
    // Copies the bytes, since the memory is transferred to the other thread.
    return { _tag: "Drawn", bytes: new Uint8Array(await draw(drawing)) }
  } catch (cause) {
    return { _tag: "NotDrawn", message: String(cause) }
  }
}

const reply = async (drawing: Drawing): Promise<void> => {
  const answered = await answer(drawing)
  parentPort?.postMessage(answered, answered._tag === "Drawn" ? [answered.bytes.buffer] : [])
}

parentPort?.on("message", (drawing: Drawing) => void reply(drawing))
