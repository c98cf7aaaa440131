/**
 * Runs attacks in a process of their own, so that they share no event loop with the callers that are measured, at the
 * lowest priority, since the cores of an attacker are not those of the server.
 *
 * `node attacker.ts <attacks as JSON>` sends `ready` to its parent process, starts at the message `start`, ends at the
 * message `stop`, and sends the number of each outcome.
 */
import { EventEmitter, once } from "node:events"
import { constants, setPriority } from "node:os"
import type { Target } from "./neighbours/Attack.ts"
import { type AttackName, attacks } from "./neighbours/attacks.ts"

setPriority(constants.priority.PRIORITY_LOW)
// The parent process has ended.
process.once("disconnect", () => process.exit(0))

const chosen: ReadonlyArray<{ readonly name: AttackName; readonly target: Target }> = JSON.parse(
  process.argv[2] ?? "[]"
)
const prepared = await Promise.all(chosen.map(({ name, target }) => attacks[name](target)))

const outcomes: Record<string, number> = {}
const tally = (outcome: string) => {
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
}
const stop = new AbortController()
// Each connection listens for the end.
EventEmitter.setMaxListeners(0, stop.signal)

process.send?.("ready")
await once(process, "message")
process.once("message", () => stop.abort())
await Promise.all(prepared.map((attack) => attack(tally, stop.signal)))
process.send?.(outcomes)
