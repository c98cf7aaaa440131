/** What is going on, on standard error: a line that changes on a terminal, a line each elsewhere. */
import { Effect } from "effect"

/** Shows what begins now. */
export const show = (text: string): Effect.Effect<void> =>
  Effect.sync(() => {
    process.stderr.write(process.stderr.isTTY ? `\r\x1b[2K${text}` : `${text}\n`)
  })

/** Removes the line, so that the result stands alone. */
export const clear: Effect.Effect<void> = Effect.sync(() => {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[2K")
})
