/**
 * Limits for Fastify, as a hook.
 *
 *     app.addHook("onRequest", rateLimit({ limits, policy: "api", limit: 100 }))
 */
import { limiter, type RateLimitOptions } from "./http.ts"
import { appended } from "./internal/http/appended.ts"

export type { Decision, OnError, PerRequest, RateLimitOptions, Refusal, Reply } from "./http.ts"

/**
 * The part of a request of Fastify that the hook reads. Functions of the options get the whole request: write the type of
 * their parameter to read more of it, `(request: FastifyRequest) => request.user.id`.
 */
export interface FastifyRequest {
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** The address of the client, which depends on the option `trustProxy`. */
  readonly ip: string
}

/** The part of a reply of Fastify that the hook writes. */
export interface FastifyReply {
  readonly code: (status: number) => unknown
  readonly getHeader: (name: string) => number | string | ReadonlyArray<string> | undefined
  readonly header: (name: string, value: string) => unknown
  readonly send: (body: string) => unknown
}

/**
 * Returns a hook that limits requests: `onRequest`, or `preHandler` if the key depends on an authentication. The default key
 * is `request.ip`: behind a proxy, set `trustProxy`, or all clients share the limit of the proxy's address.
 */
export const rateLimit = <Request extends FastifyRequest = FastifyRequest>(options: RateLimitOptions<Request>) => {
  const decide = limiter(options, ({ ip }) => ip)
  return async <Reply extends FastifyReply>(request: NoInfer<Request>, reply: Reply): Promise<Reply | undefined> => {
    const { headers, reply: refused } = await decide(request)
    for (const [name, value] of Object.entries(headers)) {
      reply.header(name, appended(name, reply.getHeader(name), value))
    }
    if (refused === undefined) return undefined
    reply.code(refused.status)
    for (const [name, value] of Object.entries(refused.headers)) reply.header(name, value)
    reply.send(refused.body)
    return reply
  }
}
