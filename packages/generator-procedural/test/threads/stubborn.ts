/**
 * A thread for tests of the pool. The prompt determines what it does: `spin` never ends,
 * `die` ends the thread, `die once` does so the first time. For anything else it
 * returns a byte, the number of drawings that this thread has seen.
 */
import { existsSync, writeFileSync } from "node:fs"
import { BroadcastChannel, parentPort } from "node:worker_threads"

let seen = 0

const announce = (key: string, prompt: string) => {
  const channel: { readonly postMessage: (message: string, transfer: ReadonlyArray<never>) => void } =
    new BroadcastChannel(key)
  channel.postMessage(prompt, [])
}

parentPort?.on("message", ({ key, prompt }: { readonly key: string; readonly prompt: string }) => {
  seen += 1
  announce(key, prompt)
  if (prompt === "spin") { for (;;) Math.sqrt(seen) }
  if (prompt === "die") process.exit(3)
  if (prompt === "die once" && !existsSync(key)) {
    writeFileSync(key, "")
    process.exit(3)
  }
  const bytes = Uint8Array.of(seen)
  parentPort?.postMessage({ _tag: "Drawn", bytes, poster: null }, [bytes.buffer])
})
