/**
 * A generator that does what it is told: for tests, drills and load runs.
 *
 * It takes its time from the `Clock` and its chance from `Random`, so a test
 * decides about both. What it promised travels in the operation, so another
 * process can go on polling as it would with a real provider; only what
 * `Control` is told concerns this process alone.
 */
import { Clock, Context, Deferred, Duration, Effect, Layer, Option, Random, Schema, Stream } from "effect"
import type { GenerationRequest } from "./GenerationRequest.ts"
import * as Generator from "./Generator.ts"
import { GeneratorError, Permanent, type Reason, Transient } from "./GeneratorError.ts"
import * as SyntheticFile from "./internal/SyntheticFile.ts"

/** What happens to a request. */
export interface Script {
  /** From `submit` to the outcome, or `hold`: until `Control` says. Default 0. */
  readonly delay?: Duration.Input | "hold" | undefined
  /** How it ends. Default `succeed`. */
  readonly outcome?: "succeed" | Permanent | undefined
  /** Size of the result; at least what the smallest valid file takes. Default 4096. */
  readonly bytes?: number | undefined
  /** The first calls of `submit` fail like this, one after the other. */
  readonly submitErrors?: ReadonlyArray<Reason> | undefined
  /** The first calls of `poll` fail like this. */
  readonly pollErrors?: ReadonlyArray<Reason> | undefined
  /** The first calls of `collect` fail like this. */
  readonly collectErrors?: ReadonlyArray<Reason> | undefined
  /** The bodies of the first results break off half-way like this. */
  readonly bodyErrors?: ReadonlyArray<Reason> | undefined
}

/** How the generator behaves where `Control` says nothing else. */
export interface ScriptedOptions {
  /** What happens to a request. Default: it succeeds at once. */
  readonly script?: Script | ((request: GenerationRequest) => Script) | undefined
  /** Share of requests that fail although their script says `succeed`, 0 to 1. Default 0. */
  readonly failureRate?: number | undefined
  /** How often to ask again. Default 1 second. */
  readonly pollInterval?: Duration.Input | undefined
  /** See `Generator.resubmit`. `unsafe` makes every `submit` a new piece of work, as some providers do. Default `safe`. */
  readonly resubmit?: "safe" | "unsafe" | undefined
  /** Calls and requests that are remembered; the oldest are forgotten. Default 10 000. */
  readonly rememberedMax?: number | undefined
}

/** A call that was made. */
export interface Call {
  readonly method: "submit" | "poll" | "cancel" | "collect"
  /** The request's id. */
  readonly id: string
}

/** Tells the scripted generator what to do, and what it was asked. Ids are those of the requests. */
export class Control extends Context.Service<Control, {
  /** Gives a request a script of its own. Call it before the request is submitted. */
  readonly script: (id: string, script: Script) => Effect.Effect<void>
  /** The request succeeds now, whatever its script says. The first decision about a request stands. */
  readonly succeed: (id: string) => Effect.Effect<void>
  /** The request fails now, whatever its script says. The first decision about a request stands. */
  readonly fail: (id: string, error: Permanent) => Effect.Effect<void>
  /** The calls so far, oldest first. */
  readonly calls: Effect.Effect<ReadonlyArray<Call>>
  /** Waits until the call was made, if it was not made before. Without `id`, by any request. Answers with the call. */
  readonly called: (method: Call["method"], id?: string) => Effect.Effect<Call>
  /** How the generator works; drivers' business. */
  readonly generator: Generator.Generator["Service"]
}>()("@kinora/generator/ScriptedGenerator/Control") {}

/** The generator of the surrounding `Control`. */
export const layer: Layer.Layer<Generator.Generator, never, Control> = Layer.effect(
  Generator.Generator,
  Effect.map(Control, ({ generator }) => generator)
)

/** A `Control` and the generator that it controls. */
export const layerControl = (options: ScriptedOptions = {}): Layer.Layer<Control> =>
  Layer.sync(Control, () => make(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const { _tag: _, ...failureFields } = Permanent.fields

const Promised = Schema.Struct({
  scripted: Schema.String,
  kind: Schema.Literals(["image", "video"]),
  /** Clock milliseconds, or `null` while it is held. */
  dueAt: Schema.NullOr(Schema.Number),
  failure: Schema.NullOr(Schema.Struct(failureFields)),
  bytes: Schema.Number
})
type Promised = typeof Promised.Type

/** What this process knows of a request. */
interface Known {
  script: Script | undefined
  operation: Generator.Operation | undefined
  /** How many scripted errors each list has given. */
  readonly given: { submitErrors: number; pollErrors: number; collectErrors: number; bodyErrors: number }
  readonly decided: Deferred.Deferred<"succeed" | Permanent>
}

const cancelled = new Permanent({ code: "generation_failed", reason: null, message: "The generation was cancelled." })
const broken = new Permanent({ code: "generation_failed", reason: "provider", message: "The generator failed." })
const foreign = new Permanent({
  code: "generation_failed",
  reason: "internal",
  message: "The generation is not known."
})

const make = (options: ScriptedOptions): Control["Service"] => {
  const { failureRate = 0, rememberedMax = 10_000, resubmit = "safe", script: fallback = {} } = options
  const pollInterval = Duration.fromInputUnsafe(options.pollInterval ?? "1 second")
  const requests = new Map<string, Known>()
  const calls: Array<Call> = []
  const waiting = new Set<{ readonly matches: (call: Call) => boolean; readonly seen: Deferred.Deferred<Call> }>()

  const knownOf = (id: string): Known => {
    const found = requests.get(id)
    if (found !== undefined) return found
    const known: Known = {
      script: undefined,
      operation: undefined,
      given: { submitErrors: 0, pollErrors: 0, collectErrors: 0, bodyErrors: 0 },
      decided: Deferred.makeUnsafe()
    }
    requests.set(id, known)
    for (const oldest of requests.keys()) {
      if (requests.size <= rememberedMax) break
      requests.delete(oldest)
    }
    return known
  }

  const record = (call: Call) =>
    Effect.suspend(() => {
      calls.push(call)
      if (calls.length > rememberedMax) calls.shift()
      const woken = [...waiting].filter(({ matches }) => matches(call))
      for (const waiter of woken) waiting.delete(waiter)
      return Effect.forEach(woken, ({ seen }) => Deferred.succeed(seen, call), { discard: true })
    })

  /** The next error of a list, once. */
  const nextError = (known: Known, list: keyof Known["given"]): Reason | undefined => {
    const error = known.script?.[list]?.[known.given[list]]
    if (error !== undefined) known.given[list] += 1
    return error
  }
  const meetError = (known: Known, list: keyof Known["given"]) =>
    Effect.suspend(() => {
      const reason = nextError(known, list)
      return reason === undefined ? Effect.void : Effect.fail(new GeneratorError({ reason }))
    })

  const promise = Effect.fnUntraced(function*(request: GenerationRequest, script: Script) {
    const { bytes = 4096, delay = 0, outcome = "succeed" } = script
    const now = yield* Clock.currentTimeMillis
    const unlucky = outcome === "succeed" && failureRate > 0 && (yield* Random.next) < failureRate
    const failure = unlucky ? broken : outcome === "succeed" ? null : outcome
    const promised: Promised = {
      scripted: request.id,
      kind: request.kind,
      dueAt: delay === "hold" ? null : now + Duration.toMillis(Duration.fromInputUnsafe(delay)),
      failure: failure && { code: failure.code, reason: failure.reason, message: failure.message },
      bytes
    }
    return promised
  })

  const submit = Effect.fn("ScriptedGenerator.submit")(function*(request: GenerationRequest) {
    yield* record({ method: "submit", id: request.id })
    const known = knownOf(request.id)
    known.script ??= typeof fallback === "function" ? fallback(request) : fallback
    yield* meetError(known, "submitErrors")
    if (known.operation !== undefined && resubmit === "safe") return known.operation
    const operation = yield* promise(request, known.script)
    known.operation = operation
    return operation
  })

  const settle = Effect.fnUntraced(function*(promised: Promised, known: Known) {
    const decided = yield* Deferred.poll(known.decided)
    if (Option.isSome(decided)) {
      const outcome = yield* decided.value
      return outcome === "succeed" ? Generator.succeeded : Generator.failed(outcome)
    }
    if (promised.dueAt === null) return undefined
    const left = promised.dueAt - (yield* Clock.currentTimeMillis)
    if (left > 0) return Generator.pending(Duration.min(pollInterval, Duration.millis(left)))
    return promised.failure === null ? Generator.succeeded : Generator.failed(new Permanent(promised.failure))
  })

  const poll = Effect.fn("ScriptedGenerator.poll")(function*(operation: Generator.Operation) {
    const promised = decode(operation)
    if (promised === undefined) return Generator.failed(foreign)
    yield* record({ method: "poll", id: promised.scripted })
    const known = knownOf(promised.scripted)
    yield* meetError(known, "pollErrors")
    const status = yield* settle(promised, known)
    if (status !== undefined) return status
    yield* Effect.timeoutOption(Deferred.await(known.decided), pollInterval)
    return (yield* settle(promised, known)) ?? Generator.pending(Duration.zero)
  })

  const cancel = Effect.fn("ScriptedGenerator.cancel")(function*(operation: Generator.Operation) {
    const promised = decode(operation)
    if (promised === undefined) return
    yield* record({ method: "cancel", id: promised.scripted })
    const known = knownOf(promised.scripted)
    const status = yield* settle(promised, known)
    if (status === undefined || status._tag === "Pending") yield* Deferred.succeed(known.decided, cancelled)
  })

  const collect = Effect.fn("ScriptedGenerator.collect")(function*(operation: Generator.Operation) {
    const promised = decode(operation)
    if (promised === undefined) return yield* new GeneratorError({ reason: foreign })
    yield* record({ method: "collect", id: promised.scripted })
    const known = knownOf(promised.scripted)
    yield* meetError(known, "collectErrors")
    const status = yield* settle(promised, known)
    if (status?._tag === "Failed") return yield* new GeneratorError({ reason: status.error })
    if (status?._tag !== "Succeeded") return yield* new GeneratorError({ reason: new Transient({}) })
    return outputOf(promised, nextError(known, "bodyErrors"))
  })

  return Control.of({
    script: (id, script) => Effect.sync(() => void (knownOf(id).script = script)),
    succeed: (id) => Effect.asVoid(Effect.suspend(() => Deferred.succeed(knownOf(id).decided, "succeed"))),
    fail: (id, error) => Effect.asVoid(Effect.suspend(() => Deferred.succeed(knownOf(id).decided, error))),
    calls: Effect.sync(() => [...calls]),
    called: (method, id) =>
      Effect.suspend(() => {
        const matches = (call: Call) => call.method === method && (id === undefined || call.id === id)
        const made = calls.find(matches)
        if (made !== undefined) return Effect.succeed(made)
        const waiter = { matches, seen: Deferred.makeUnsafe<Call>() }
        waiting.add(waiter)
        return Effect.ensuring(Deferred.await(waiter.seen), Effect.sync(() => waiting.delete(waiter)))
      }),
    generator: { resubmit, submit, poll, cancel, collect }
  })
}

const decodeOption = Schema.decodeUnknownOption(Promised)
const decode = (operation: Generator.Operation): Promised | undefined => Option.getOrUndefined(decodeOption(operation))

const outputOf = ({ bytes, kind }: Promised, breaksWith: Reason | undefined): Generator.Output => {
  const file = kind === "image" ? SyntheticFile.picture(bytes) : SyntheticFile.video(bytes)
  const body: Stream.Stream<Uint8Array, GeneratorError> = Stream.fromIterable(file.parts, { chunkSize: 1 })
  return {
    ...file.facts,
    body: breaksWith === undefined
      ? body
      : Stream.concat(Stream.take(body, file.partsTotal >> 1), Stream.fail(new GeneratorError({ reason: breaksWith })))
  }
}
