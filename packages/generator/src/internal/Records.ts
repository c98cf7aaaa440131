/** What a scripted generator remembers: the calls that were made, and what it knows of each request. */
import { Deferred, Effect } from "effect"
import type { InputImage } from "../GenerationRequest.ts"
import type { Operation } from "../Generator.ts"
import type { Permanent, Reason } from "../GeneratorError.ts"

/** A call that was made. */
export interface Call {
  readonly method: "submit" | "poll" | "cancel" | "collect"
  /** The request's id. */
  readonly id: string
}

/** An input image that was read to its end. */
export type ReadImage = Omit<InputImage, "body">

/** The lists of errors that a script may have. */
export type ErrorList = "submitErrors" | "pollErrors" | "collectErrors" | "bodyErrors"

/** What this process knows of a request. */
export interface Known<Script> {
  script: Script | undefined
  operation: Operation | undefined
  images: ReadonlyArray<ReadImage>
  /** How many scripted errors each list has given. */
  readonly given: Record<ErrorList, number>
  readonly decided: Deferred.Deferred<"succeed" | Permanent>
}

/** The next error of a list of the request's script, once. */
export const nextError = (
  known: Known<{ readonly [List in ErrorList]?: ReadonlyArray<Reason> | undefined }>,
  list: ErrorList
): Reason | undefined => {
  const error = known.script?.[list]?.[known.given[list]]
  if (error !== undefined) known.given[list] += 1
  return error
}

/** Remembers so many calls and so many requests; the oldest are forgotten. */
export const make = <Script>(rememberedMax: number) => {
  const requests = new Map<string, Known<Script>>()
  const calls: Array<Call> = []
  const waiting = new Set<{ readonly matches: (call: Call) => boolean; readonly seen: Deferred.Deferred<Call> }>()

  return {
    /** The request of this id, from now on if it was not known before. */
    requestOf: (id: string): Known<Script> => {
      const found = requests.get(id)
      if (found !== undefined) return found
      const known: Known<Script> = {
        script: undefined,
        operation: undefined,
        images: [],
        given: { submitErrors: 0, pollErrors: 0, collectErrors: 0, bodyErrors: 0 },
        decided: Deferred.makeUnsafe()
      }
      requests.set(id, known)
      for (const oldest of requests.keys()) {
        if (requests.size <= rememberedMax) break
        requests.delete(oldest)
      }
      return known
    },

    /** Notes a call, and wakes whoever waits for it. */
    record: (call: Call) =>
      Effect.suspend(() => {
        calls.push(call)
        if (calls.length > rememberedMax) calls.shift()
        const woken = [...waiting].filter(({ matches }) => matches(call))
        for (const waiter of woken) waiting.delete(waiter)
        return Effect.forEach(woken, ({ seen }) => Deferred.succeed(seen, call), { discard: true })
      }),

    /** The calls so far, oldest first. */
    calls: Effect.sync((): ReadonlyArray<Call> => [...calls]),

    /** Waits until such a call was made, if it was not made before. */
    called: (method: Call["method"], id?: string): Effect.Effect<Call> =>
      Effect.suspend(() => {
        const matches = (call: Call) => call.method === method && (id === undefined || call.id === id)
        const made = calls.find(matches)
        if (made !== undefined) return Effect.succeed(made)
        const waiter = { matches, seen: Deferred.makeUnsafe<Call>() }
        waiting.add(waiter)
        return Effect.ensuring(Deferred.await(waiter.seen), Effect.sync(() => waiting.delete(waiter)))
      })
  }
}
