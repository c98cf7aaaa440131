/** The process of attackers. See `attacker.ts`. */
import { Effect, Schema, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { attempt, type BenchmarkFailure, type Outcomes } from "../Benchmark.ts"
import type { Target } from "./Attack.ts"
import type { AttackName } from "./attacks.ts"

/** A prepared attack. */
export interface Attacker {
  readonly start: Effect.Effect<unknown, never, Scope.Scope>
  /** Ends the attack, and returns its outcomes. */
  readonly stop: Effect.Effect<Outcomes, BenchmarkFailure>
}

/** Starts a process that prepares attacks. It ends with the scope at the latest. */
export const make = Effect.fnUntraced(
  function*(
    chosen: ReadonlyArray<{ readonly name: AttackName; readonly target: Target }>
  ): Effect.fn.Return<Attacker, BenchmarkFailure, Scope.Scope> {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [...process.execArgv, module, JSON.stringify(chosen)], {
          stdio: ["ignore", "inherit", "inherit", "ipc"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    yield* attempt("The attack could not be prepared", () => nextMessage(child))
    return {
      start: Effect.sync(() => child.send("start")),
      stop: attempt("The attack did not end", async () => {
        const outcomes = nextMessage(child)
        child.send("stop")
        return decodeOutcomes(await outcomes)
      })
    }
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const module = join(import.meta.dirname, "../attacker.ts")

const decodeOutcomes = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Number))

/** Waits for a message. Fails if the process ends instead. */
const nextMessage = async (child: ChildProcess): Promise<unknown> => {
  const ended = new AbortController()
  const message = once(child, "message", { signal: ended.signal })
  const end = () => ended.abort(new Error("the attacker ended"))
  child.once("exit", end)
  try {
    const [value] = await message
    return value
  } finally {
    child.off("exit", end)
  }
}
