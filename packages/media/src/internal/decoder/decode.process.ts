/** The process of `DecoderProcesses`. Receives each `Order` with a file, and responds with an `Answer` and the result. */
import * as Frames from "./frames.ts"
import type { Answer, Order } from "./order.ts"
import * as Work from "./work.ts"

const answerTo = async (
  { limits, resultBytesMax, work }: Order,
  bytes: Uint8Array
): Promise<readonly [Answer, Uint8Array?]> => {
  try {
    const { data, info: { height, width } } = await Work.run(bytes, limits, work)
    if (data.length > resultBytesMax) return [{ kind: "grew", bytes: data.length }]
    return [{ kind: "made", width, height }, data]
  } catch (cause) {
    const message = String(cause).slice(0, messageMax)
    return [Work.isTimeout(cause) ? { kind: "timeout" } : { kind: "corrupt", message }]
  }
}

/** Maximum length of the message of the decoder. */
const messageMax = 1000

Work.confine()
for await (const { data: file, message } of Frames.read(process.stdin, Infinity)) {
  const [answer, data = new Uint8Array()] = await answerTo(message as Order, file)
  Frames.write(process.stdout, { message: answer, data })
  // Nothing refers to the file and the result any more when they were passed on. Together they can have 100 MiB.
  setImmediate(() => globalThis.gc?.())
}
