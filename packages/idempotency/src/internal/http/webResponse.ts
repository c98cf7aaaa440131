/** Captures web responses. */
import { Effect } from "effect"
import type { Decision } from "../../http.ts"
import { makeCapturedBody } from "./capturedBody.ts"
import { type HeaderValues, storedHeaders } from "./storedHeaders.ts"

/**
 * Calls `end` of a decision with the response, before its end is sent. Returns the response to send. A body that is complete
 * within 10 milliseconds is sent after that. Others are sent as they come, and read up to `sizeMax` even if the client
 * disconnects, so that the response can be stored.
 */
export const captureWeb = async (
  response: Response,
  before: HeaderValues,
  { end, sizeMax }: Extract<Decision, { _tag: "Run" }>
): Promise<Response> => {
  const { status } = response
  const headers = storedHeaders(before, Object.fromEntries(response.headers))
  const stream = response.body
  if (stream === null) {
    await end({ status, headers, body: new Uint8Array() })
    return response
  }
  const body = makeCapturedBody(sizeMax)
  const pump = makePump(stream, body.add, body.isTooLarge)
  const ended = pump.ended.then(async (isComplete) => {
    await end({ status, headers, body: isComplete ? body.bytes() : undefined })
    return isComplete
  })
  const isComplete = await Promise.race([ended, Effect.runPromise(Effect.as(Effect.sleep(patience), false))])
  const bytes = isComplete ? body.bytes() : undefined
  return new Response(bytes ?? pump.streamUntil(ended), response)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The time that a complete body may take. */
const patience = "10 millis"

/** Reads a stream at once while it is short, and beyond that as fast as the client. */
const makePump = (
  source: ReadableStream<Uint8Array>,
  add: (chunk: Uint8Array) => void,
  isTooLarge: () => boolean
) => {
  const reader = source.getReader()
  const queue: Array<Uint8Array> = []
  let failure: { readonly error: unknown } | undefined
  const client = { hasLeft: false }
  let changed = Promise.withResolvers<void>()
  const notify = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }

  const read = async (): Promise<boolean> => {
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        add(next.value)
        queue.push(next.value)
        notify()
        while (isTooLarge() && queue.length > 0 && !client.hasLeft) await changed.promise
        if (isTooLarge() && client.hasLeft) await reader.cancel()
      }
      return true
    } catch (error) {
      failure = { error }
      return false
    }
  }
  const ended = read()

  /** Returns the stream for the client. It ends after `stored`. */
  const streamUntil = (stored: Promise<unknown>) => {
    const response = { isStored: false }
    const finish = async () => {
      await stored
      response.isStored = true
      notify()
    }
    void finish()
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        while (queue.length === 0 && !response.isStored) await changed.promise
        const chunk = queue.shift()
        notify()
        if (chunk !== undefined) controller.enqueue(chunk)
        else if (failure === undefined) controller.close()
        else controller.error(failure.error)
      },
      cancel: async () => {
        client.hasLeft = true
        notify()
        // It cannot be stored any more, so nobody needs the rest.
        if (isTooLarge()) await reader.cancel()
      }
    })
  }
  return { ended, streamUntil }
}
