/**
 * Idempotent requests for Hono, as a middleware.
 *
 *     app.use(idempotent({ idempotency, scope: (c) => c.get("account") }))
 */
import { BodyTooLarge, type IdempotencyOptions, idempotent as decider } from "./http.ts"
import { readBody } from "./internal/http/webRequest.ts"
import { captureWeb } from "./internal/http/webResponse.ts"

export { type IdempotencyOptions, type PerRequest, type Refusal, type Reply, runningRequest } from "./http.ts"

/** The part of a request of Hono that the middleware uses. */
export interface HonoRequest {
  /** Replaced by one with the same body after the body was read. */
  raw: Request
  readonly method: string
  readonly url: string
  readonly header: (name: string) => string | undefined
  readonly arrayBuffer: () => Promise<ArrayBuffer>
}

/**
 * The part of a context of Hono that the middleware uses. Functions of the options get the whole context: write the type of
 * their parameter to read more of it, `(c: Context<Env>) => c.get("account")`.
 */
export interface HonoContext {
  readonly req: HonoRequest
  res: Response
}

/** Options of the middleware. */
export interface HonoOptions<Context> extends IdempotencyOptions<Context> {
  /** The maximum size in bytes of the body of a request with a key, which is read for its fingerprint. Default 1 MiB. */
  readonly bodyMax?: number | undefined
}

/**
 * Returns a middleware that runs requests with an idempotency key once. A response is sent when its body is complete, or
 * from 10 milliseconds after the handler on as it comes.
 */
export const idempotent = <Context extends HonoContext = HonoContext>(options: HonoOptions<Context>) => {
  const { bodyMax = 1024 * 1024 } = options
  const decide = decider(options, ({ req }) => ({
    method: req.method,
    url: req.url.replace(/^[a-z]+:\/\/[^/]*/i, ""),
    key: req.header("idempotency-key"),
    readBody: async () => {
      const body = await readBody(req, bodyMax)
      if (body === "too large") throw new BodyTooLarge()
      return body
    }
  }))
  return async (context: NoInfer<Context>, next: () => Promise<void>): Promise<Response | undefined> => {
    const decision = await decide(context)
    if (decision._tag === "Reply") {
      const { body, headers, status } = decision.reply
      const content = typeof body === "string" ? body : Uint8Array.from(body)
      // A response of these statuses cannot have a body, even an empty one.
      return new Response([204, 205, 304].includes(status) ? null : content, {
        status,
        headers: headersOf(context, headers)
      })
    }
    if (decision._tag === "Pass") {
      await next()
      return undefined
    }
    const before = Object.fromEntries(context.res.headers)
    try {
      await next()
    } catch (error) {
      await decision.end({ status: 500, headers: [], body: undefined })
      throw error
    }
    context.res = await captureWeb(context.res, before, decision)
    return undefined
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns the headers that middleware has set before, with others. */
const headersOf = ({ res }: HonoContext, pairs: ReadonlyArray<readonly [string, string]>): Headers => {
  const headers = new Headers(res.headers)
  for (const [name, value] of pairs) headers.set(name, value)
  return headers
}
