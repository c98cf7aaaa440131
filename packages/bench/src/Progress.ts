/** Progress on standard error: one line that is overwritten on a terminal, one line per step elsewhere. */
import { Effect } from "effect"

/** Shows the current step. */
export const show = (text: string): Effect.Effect<void> =>
  Effect.sync(() => {
    process.stderr.write(process.stderr.isTTY ? `\r\x1b[2K${text}` : `${text}\n`)
  })

/** Removes the line before the result is printed. */
export const clear: Effect.Effect<void> = Effect.sync(() => {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[2K")
})
