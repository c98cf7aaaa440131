/**
 * Limits for Hono, as a middleware.
 *
 *     app.use(rateLimit({ limits, policy: "api", limit: 100 }))
 */
import { limiter, type RateLimitOptions } from "./http.ts"

export type { Decision, OnError, PerRequest, RateLimitOptions, Refusal, Reply } from "./http.ts"

/** The part of a request of Hono that functions of the options read without a type of their parameter. */
export interface HonoRequest {
  readonly method: string
  readonly path: string
  readonly header: (name: string) => string | undefined
}

/**
 * The part of a context of Hono that the middleware uses. Functions of the options get the whole context: write the type of
 * their parameter to read more of it, `(c: Context<Env>) => c.get("account")`.
 */
export interface HonoContext {
  /** Bindings of the platform. Those of `@hono/node-server` have the request of Node. */
  readonly env: unknown
  readonly req: HonoRequest
  readonly res: Response
  readonly header: (name: string, value: string, options?: { readonly append?: boolean }) => void
}

/**
 * Returns a middleware that limits requests. The default key is the address of the socket under `@hono/node-server`.
 * Behind a proxy all clients share that address, and on other platforms there is none: pass a `key`.
 */
export const rateLimit = <Context extends HonoContext = HonoContext>(options: RateLimitOptions<Context>) => {
  const decide = limiter(options, socketAddress)
  return async (context: NoInfer<Context>, next: () => Promise<void>): Promise<Response | undefined> => {
    const { headers, reply } = await decide(context)
    if (reply !== undefined) {
      // Keeps the headers that other middleware has set.
      const all = new Headers(context.res.headers)
      for (const [name, value] of Object.entries({ ...headers, ...reply.headers })) all.set(name, value)
      return new Response(reply.body, { status: reply.status, headers: all })
    }
    await next()
    // After the handler, since a response that it has constructed replaces earlier headers.
    for (const [name, value] of Object.entries(headers)) {
      context.header(name, value, { append: !name.startsWith("x-") })
    }
    return undefined
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The address of the socket under `@hono/node-server`, or `null` on other platforms. */
const socketAddress = ({ env }: HonoContext): string | null | undefined => {
  const { incoming } = (env ?? {}) as { readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } } }
  return incoming?.socket === undefined ? null : incoming.socket.remoteAddress
}
