/** Scripted upstreams for tests, and a worker that uses them. */
import { Catalog, type Model } from "@kinora/catalog"
import { type Generator, GeneratorError, Generators, ScriptedGenerator, UpstreamLimits } from "@kinora/generator"
import { type JobHandler, Scheduler, Worker } from "@kinora/scheduler"
import * as TestTime from "@kinora/testkit/TestTime"
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { Generation } from "../src/Generation.ts"
import { Generations } from "../src/Generations.ts"
import * as GenerationWorker from "../src/GenerationWorker.ts"
import { models, openAccount, request } from "./Assembly.ts"

/** A failure of a busy upstream, which has started nothing. */
export const busy = new GeneratorError.Transient({})

/** The failure of an upstream that rejects the credential. */
export const denied = new GeneratorError.Permanent({
  code: "upstream_error",
  reason: "internal",
  message: "The provider is not available to this service."
})

/** Options of an upstream. */
export interface UpstreamOptions extends Pick<ScriptedGenerator.ScriptedOptions, "script" | "resubmit"> {
  readonly limits?: typeof UpstreamLimits.UpstreamLimits.Encoded
}

/** Makes an upstream, whose calls fail with `outage` while it is set. */
export const makeUpstream = Effect.fnUntraced(function*({ limits = {}, ...options }: UpstreamOptions = {}) {
  const control = Context.get(
    yield* Layer.build(Layer.fresh(ScriptedGenerator.layerControl({ pollInterval: "1 second", ...options }))),
    ScriptedGenerator.Control
  )
  const outage: { reason: GeneratorError.Reason | undefined; submits: number; polls: number } = {
    reason: undefined,
    submits: 0,
    polls: 0
  }
  const unless = <A>(effect: Effect.Effect<A, GeneratorError.GeneratorError>) =>
    Effect.suspend(() => {
      const { reason } = outage
      return reason === undefined ? effect : Effect.fail(new GeneratorError.GeneratorError({ reason }))
    })
  const generator: Generator.Generator["Service"] = {
    ...control.generator,
    submit: (request) => {
      outage.submits++
      return unless(control.generator.submit(request))
    },
    poll: (operation) => {
      outage.polls++
      return unless(control.generator.poll(operation))
    }
  }
  const callsOf = (method: ScriptedGenerator.Call["method"]) =>
    Effect.map(control.calls, (calls) => calls.filter((call) => call.method === method).length)
  return {
    control,
    generator,
    outage,
    callsOf,
    limits: Schema.decodeUnknownSync(UpstreamLimits.UpstreamLimits)(limits)
  }
})

/** An upstream of a test. */
export type Upstream = Effect.Success<ReturnType<typeof makeUpstream>>

/** Options of `start`. */
export interface StartOptions extends GenerationWorker.GenerationWorkerOptions {
  /** Upstreams by name. */
  readonly upstreams: Readonly<Record<string, Upstream>>
  /** Driver of each model. Models without one have no upstream. */
  readonly drivers: Readonly<Record<string, Model.ModelInput["driver"]>>
  readonly concurrency?: number
}

/** Starts a worker with these upstreams, which stops immediately when the scope closes. */
export const start = Effect.fnUntraced(
  function*({ concurrency = 8, drivers, upstreams, ...options }: StartOptions) {
    const catalog = yield* Catalog.make(
      models.map((model) => ({ ...model, driver: drivers[model.id] ?? { name: "none" } }))
    )
    const generators = Generators.Generators.of({
      get: (name) => Option.map(Option.fromUndefinedOr(upstreams[name]), ({ generator }) => generator),
      limits: (name) => upstreams[name]?.limits ?? UpstreamLimits.defaults,
      names: Object.keys(upstreams)
    })
    const handler: JobHandler.JobHandler = yield* GenerationWorker.makeHandler(options).pipe(
      Effect.provideService(Catalog.Catalog, catalog),
      Effect.provideService(Generators.Generators, generators)
    )
    // The clock of the tests is faster than a database can renew short leases.
    const lease = { lease: "2 hours", rescueInterval: "5 seconds" } as const
    yield* Layer.build(
      Worker.layer({ name: "test", id: options.worker, handlers: [handler], concurrency, grace: 0, ...lease })
    )
  },
  Effect.orDie
)

/** Starts a worker that leaves its jobs and its lease as they are when the scope closes, like a killed process. */
export const startKillable = Effect.fnUntraced(function*(options: StartOptions) {
  const scheduler = yield* Scheduler.Scheduler
  let lease = ""
  const killed = {
    ...scheduler,
    takeLease: (options: Parameters<typeof scheduler.takeLease>[0]) =>
      Effect.tap(scheduler.takeLease(options), (taken) =>
        Effect.sync(() => {
          lease = taken
        })),
    release: () => Effect.void,
    returnLease: () => Effect.void
  }
  yield* Effect.provideService(start(options), Scheduler.Scheduler, killed)
  /** Ends the lease, as its expiry does. */
  return { expire: Effect.suspend(() => scheduler.returnLease(lease)) }
})

/** Creates jobs of a model, of an account of their own each. */
export const createJobs = Effect.fnUntraced(function*(model: string, count: number) {
  const { create } = yield* Generations
  const jobs = yield* Effect.forEach(
    Array.from({ length: count }),
    () =>
      Effect.gen(function*() {
        const account = yield* openAccount({ credits: 100 })
        return (yield* create(yield* request(account, { model }))).generation
      })
  )
  return jobs
})

/** Returns the current states of jobs. */
export const statesOf = (jobs: ReadonlyArray<Generation>) =>
  Effect.forEach(jobs, ({ account, id }) => Effect.flatMap(Generations, ({ get }) => get(account, id)))

/** Returns the statuses of jobs. */
export const statusesOf = (jobs: ReadonlyArray<Generation>) =>
  Effect.map(statesOf(jobs), (states) => states.map(({ status }) => status))

/** Moves the clock until all jobs have ended, and returns them. */
export const ended = Effect.fnUntraced(function*(jobs: ReadonlyArray<Generation>) {
  yield* TestTime.until(
    Effect.map(statusesOf(jobs), (statuses) => statuses.every((status) => !waiting.has(status)))
  )
  return yield* statesOf(jobs)
})

const waiting: ReadonlySet<string> = new Set(["pending", "queued", "processing"])
