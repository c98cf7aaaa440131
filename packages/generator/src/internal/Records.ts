/** The calls and requests that a scripted generator has recorded. */
import { Deferred, Effect } from "effect"
import type { InputImage } from "../GenerationRequest.ts"
import type { Operation } from "../Generator.ts"
import type { Permanent, Reason } from "../GeneratorError.ts"

/** A recorded call. */
export interface Call {
  readonly method: "submit" | "poll" | "cancel" | "collect"
  /** Id of the request. */
  readonly id: string
}

/** An input image that was read to its end. */
export type ReadImage = Omit<InputImage, "body">

/** Name of a list of errors in a script. */
export type ErrorList = "submitErrors" | "pollErrors" | "collectErrors" | "bodyErrors"

/** State of a request in this process. */
export interface Known<Script> {
  script: Script | undefined
  operation: Operation | undefined
  images: ReadonlyArray<ReadImage>
  /** Number of errors used of each list. */
  readonly given: Record<ErrorList, number>
  readonly decided: Deferred.Deferred<"succeed" | Permanent>
}

/** Returns the next unused error of a list, and marks it as used. */
export const nextError = (
  known: Known<{ readonly [List in ErrorList]?: ReadonlyArray<Reason> | undefined }>,
  list: ErrorList
): Reason | undefined => {
  const error = known.script?.[list]?.[known.given[list]]
  if (error !== undefined) known.given[list] += 1
  return error
}

/** Creates records of at most `rememberedMax` calls and requests. The oldest are dropped. */
export const make = <Script>(rememberedMax: number) => {
  const requests = new Map<string, Known<Script>>()
  const calls: Array<Call> = []
  const waiting = new Set<{ readonly matches: (call: Call) => boolean; readonly seen: Deferred.Deferred<Call> }>()

  return {
    /** Returns the state of the request, new if it is unknown. */
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

    /** Records a call, and wakes the fibers that wait for it. */
    record: (call: Call) =>
      Effect.suspend(() => {
        calls.push(call)
        if (calls.length > rememberedMax) calls.shift()
        const woken = [...waiting].filter(({ matches }) => matches(call))
        for (const waiter of woken) waiting.delete(waiter)
        return Effect.forEach(woken, ({ seen }) => Deferred.succeed(seen, call), { discard: true })
      }),

    /** Returns the calls, oldest first. */
    calls: Effect.sync((): ReadonlyArray<Call> => [...calls]),

    /** Waits until the call is recorded. Returns at once if it was recorded before. */
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
