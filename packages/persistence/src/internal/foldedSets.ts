/** The waiting commands of a fold, and its running sets. */
import { Clock, Context, Effect, Exit, type Fiber } from "effect"

/** A command that waits for a set or runs in one. */
export interface Entry<Command, A, E> {
  readonly command: Command
  /** The services of its caller. A set runs with those of its first entry. */
  readonly context: Context.Context<never>
  /** Resumes its caller. Ignored after the first call, and after the caller has left. */
  readonly settle: (exit: Exit.Exit<A, E>) => void
  /** Whether its caller was interrupted. It enters no further set. */
  hasLeft: boolean
}

/** Options for `make`. */
export interface FoldedSetsOptions<Command, A, E> {
  /** Maximum number of entries in a set. */
  readonly membersMax: number
  /** Maximum number of sets that run at the same time and are not late. */
  readonly setsMax: number
  /** Time after which a running set is late, in milliseconds. `Infinity`: never. */
  readonly patience: number
  /** Runs a set and settles its entries, or passes them on. */
  readonly run: (entries: ReadonlyArray<Entry<Command, A, E>>) => Effect.Effect<void>
}

/** Adds an entry: to a set of its own that starts immediately, or to those that wait for a turn. */
export type AddEntry<Command, A, E> = (entry: Entry<Command, A, E>) => void

/** Creates a queue without entries. Entries that wait are taken in the order of their arrival. */
export const make = <Command, A, E>(
  { membersMax, patience, run, setsMax }: FoldedSetsOptions<Command, A, E>
): AddEntry<Command, A, E> => {
  let waiting: Array<Entry<Command, A, E>> = []
  /** In the order of their starts. */
  const running = new Set<Turn>()
  let late = 0
  let isStarting = false
  let watch: Fiber.Fiber<void> | undefined

  const start = (entries: ReadonlyArray<Entry<Command, A, E>>) => {
    const { context } = entries[0]!
    const turn: Turn = { isLate: false, startedAt: nowOf(context) }
    running.add(turn)
    Effect.runForkWith(context)(Effect.suspend(() => run(entries))).addObserver((exit) => {
      running.delete(turn)
      if (turn.isLate) late--
      if (Exit.isFailure(exit)) { for (const entry of entries) entry.settle(Exit.failCause(exit.cause)) }
      startAll()
    })
  }

  /** Starts waiting sets while there are turns. A set that ends at once calls this again, and leaves the rest to the first call. */
  const startAll = () => {
    if (isStarting) return
    isStarting = true
    while (waiting.length > 0 && running.size - late < setsMax) {
      const [entries, rest] = takeNext(waiting, membersMax)
      waiting = rest
      if (entries.length > 0) start(entries)
    }
    isStarting = false
    if (waiting.length > 0) startWatch(waiting[0]!.context)
    else if (running.size === 0) watch?.interruptUnsafe()
  }

  /** While entries wait, allows further sets beside one that is late. Without waiting entries there is no timer. */
  const watchRunning = Effect.gen(function*() {
    while (waiting.length > 0 && late < lateMax) {
      const oldest = firstOnTime(running)
      if (oldest === undefined) return
      const left = oldest.startedAt + patience - (yield* now)
      if (left > 0) yield* Effect.sleep(left)
      else if (running.has(oldest)) {
        oldest.isLate = true
        late++
        startAll()
      }
    }
  })

  const startWatch = (context: Context.Context<never>) => {
    if (watch !== undefined || late >= lateMax || patience === Infinity) return
    const fiber = Effect.runForkWith(context)(watchRunning)
    watch = fiber
    fiber.addObserver(() => {
      if (watch === fiber) watch = undefined
    })
  }

  return (entry) => {
    waiting.push(entry)
    startAll()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A running set. */
interface Turn {
  /** On the monotonic clock, in milliseconds. */
  readonly startedAt: number
  /** Whether other sets no longer wait for it. */
  isLate: boolean
}

/** Returns the first entries whose callers have not left, and those that follow. */
const takeNext = <Command, A, E>(waiting: ReadonlyArray<Entry<Command, A, E>>, membersMax: number) => {
  const taken: Array<Entry<Command, A, E>> = []
  let end = 0
  while (end < waiting.length && taken.length < membersMax) {
    const entry = waiting[end++]!
    if (!entry.hasLeft) taken.push(entry)
  }
  return [taken, waiting.slice(end)] as const
}

const firstOnTime = (turns: Iterable<Turn>): Turn | undefined => {
  for (const turn of turns) if (!turn.isLate) return turn
  return undefined
}

/** Maximum number of late sets. Further ones hold their turns. */
const lateMax = 4

const toMillis = (nanos: bigint) => Number(nanos) / 1e6
const nowOf = (context: Context.Context<never>) =>
  toMillis(Context.get(context, Clock.Clock).monotonicTimeNanosUnsafe())
const now = Effect.map(Clock.monotonicTimeNanos, toMillis)
