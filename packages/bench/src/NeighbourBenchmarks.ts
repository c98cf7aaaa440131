/** Benchmarks of the harm that one account can do: latencies of the others without an attack and beside it. */
import { Effect, Schedule, type Scope } from "effect"
import type { Benchmark, BenchmarkFailure, Contestant, Environment, Goals, Outcomes, Round } from "./Benchmark.ts"
import * as KinoraServer from "./KinoraServer.ts"
import * as AttackerProcess from "./neighbours/AttackerProcess.ts"
import type { AttackName } from "./neighbours/attacks.ts"
import { models } from "./neighbours/models.ts"
import * as NeighbourLoad from "./neighbours/NeighbourLoad.ts"

/** Goals beside several attacks at once: all that has to hold on any machine. */
const several: Goals = { peakMebibytesMax: 1024 }
/** Goals beside one attack. */
const alone: Goals = { ...several, ratioMax: 1.5 }
/** Goals beside an account whose rows are locked, which costs nothing. */
const locked: Goals = { ...several, ratioMax: 1.2 }

const load = `${NeighbourLoad.accountCount} accounts with ${NeighbourLoad.perSecond} requests per second`

/** All benchmarks of neighbours. */
export const benchmarks: ReadonlyArray<Benchmark> = [
  ofAttack("bodies", "64 bodies that stop after one byte"),
  ofAttack("json", "12 callers that send bodies of 48 MiB"),
  ofAttack("images", "16 callers that send images of 34 bytes and 40 megapixels"),
  ofAttack(
    "uploads",
    "16 callers that upload images, every second one of which would be stored with 100 times its length"
  ),
  ofAttack("links", "32 downloads that are not read"),
  ofAttack("jobs", "as many jobs of 10 seconds as are accepted"),
  ofAttacks("all", "the attacks above at once, each by another account", [
    "bodies",
    "json",
    "images",
    "uploads",
    "links",
    "jobs"
  ], several),
  ofAttack("lock", "16 callers that create jobs of an account whose rows a transaction has locked", locked),
  {
    ...common(
      "suspended",
      "a second server that creates jobs of the same accounts, and is suspended again and again",
      alone
    ),
    contestants: (environment) =>
      Effect.map(KinoraServer.makeMeasuredPair(environment, serverOptions), ([server, second]) => {
        const round = (beside: Effect.Effect<unknown, never, Scope.Scope>) =>
          measured(server, environment, (keys) =>
            Effect.map(
              AttackerProcess.make([{ name: "shared", target: { ...second, keys } }]),
              (attacker) => ({ ...attacker, start: Effect.andThen(attacker.start, beside) })
            ))
        return [
          { name: "kinora, beside a running server", round: round(Effect.void) },
          { name: "kinora, beside a suspended server", round: round(Effect.forkScoped(suspendRepeatedly(second))) }
        ]
      })
  }
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Default settings. Only the models differ, so that the cost of a job is known. */
const serverOptions: KinoraServer.KinoraServerOptions = { workers: 4, models: Object.values(models) }

function common(name: string, what: string, goals: Goals): Pick<Benchmark, "name" | "title" | "compares" | "goals"> {
  return { name: `neighbours-${name}`, title: `${load}, beside ${what}`, compares: "p99", goals }
}

function ofAttack(name: AttackName, what: string, goals: Goals = alone): Benchmark {
  return ofAttacks(name, what, [name], goals)
}

function ofAttacks(name: string, what: string, names: ReadonlyArray<AttackName>, goals: Goals): Benchmark {
  return {
    ...common(name, what, goals),
    contestants: (environment) =>
      Effect.map(KinoraServer.makeMeasured(environment, serverOptions), (server): ReadonlyArray<Contestant> => [
        { name: "kinora, without the attack", round: measured(server, environment, () => Effect.succeed(nobody)) },
        {
          name: "kinora, attacked",
          round: measured(server, environment, () =>
            Effect.flatMap(
              Effect.forEach(names, (name) =>
                Effect.map(server.makeKeys(1), (keys) => ({ name, target: { ...server, keys } }))),
              AttackerProcess.make
            ))
        }
      ])
  }
}

/** No attacker. */
const nobody: AttackerProcess.Attacker = { start: Effect.void, stop: Effect.succeed<Outcomes>({}) }

/** Measures ordinary accounts beside an attacker, who receives their keys. */
const measured = Effect.fnUntraced(function*(
  server: KinoraServer.MeasuredKinoraServer,
  { seconds, tidy }: Environment,
  makeAttacker: (
    keys: ReadonlyArray<string>
  ) => Effect.Effect<AttackerProcess.Attacker, BenchmarkFailure, Scope.Scope>
) {
  const { keys, round } = yield* NeighbourLoad.make(server, seconds)
  const attacker = yield* makeAttacker(keys)
  yield* tidy(server.database)
  yield* awaitIdle(server)
  yield* attacker.start
  const figures = yield* round
  const { peakMebibytes } = yield* server.measure
  const result: Round = { ...figures, peakMebibytes, attacker: yield* attacker.stop }
  return result
})

const idleMillis = 500
/** Share of a core that an idle server uses at most. */
const idleShare = 0.2
const idleChecks = 120

/** Waits until the server has no work left of an earlier attack or of the preparation. */
const awaitIdle = ({ measure }: KinoraServer.MeasuredKinoraServer) =>
  Effect.gen(function*() {
    const before = yield* measure
    yield* Effect.sleep(idleMillis)
    const after = yield* measure
    return after.cpuSeconds - before.cpuSeconds
  }).pipe(Effect.repeat({
    until: (seconds) => seconds < idleShare * idleMillis / 1000,
    schedule: Schedule.recurs(idleChecks)
  }))

/** Suspends a server for two seconds at a time, until the scope closes. Then it continues. */
const suspendRepeatedly = ({ signal }: KinoraServer.MeasuredKinoraServer) =>
  signal("SIGSTOP").pipe(
    Effect.andThen(Effect.sleep("2 seconds")),
    Effect.andThen(signal("SIGCONT")),
    Effect.andThen(Effect.sleep("500 millis")),
    Effect.forever,
    Effect.ensuring(signal("SIGCONT"))
  )
