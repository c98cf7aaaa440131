/**
 * Idempotent requests for Fastify, as a hook.
 *
 *     app.addHook("preHandler", idempotent({ idempotency, scope: (request) => request.user.id }))
 */
import { type IdempotencyOptions, idempotent as decider } from "./http.ts"
import { keyOf, type NodeRequest, parsedBody } from "./internal/http/nodeRequest.ts"
import { captureNode, type NodeResponse } from "./internal/http/nodeResponse.ts"

export { type IdempotencyOptions, type PerRequest, type Refusal, type Reply, runningRequest } from "./http.ts"

/**
 * The part of a request of Fastify that the hook reads. Functions of the options get the whole request: write the type of
 * their parameter to read more of it.
 */
export interface FastifyRequest {
  readonly method: string
  readonly originalUrl: string
  readonly headers: NodeRequest["headers"]
  readonly body: unknown
  readonly raw: NodeRequest
}

/** The part of a reply of Fastify that the hook uses. */
export interface FastifyReply {
  readonly raw: NodeResponse
  readonly code: (status: number) => unknown
  readonly getHeaders: NodeResponse["getHeaders"]
  readonly header: (name: string, value: string) => unknown
  readonly send: (body: string | Uint8Array) => unknown
}

/** Returns a `preHandler` hook that runs requests with an idempotency key once. */
export const idempotent = <Request extends FastifyRequest = FastifyRequest>(options: IdempotencyOptions<Request>) => {
  const decide = decider(options, (request) => ({
    method: request.method,
    url: request.originalUrl,
    key: keyOf(request.raw),
    readBody: () => parsedBody(request.raw, request.body)
  }))
  return async <Reply extends FastifyReply>(request: NoInfer<Request>, reply: Reply): Promise<Reply | undefined> => {
    const decision = await decide(request)
    if (decision._tag === "Run") captureNode(reply.raw, decision, reply.getHeaders())
    if (decision._tag !== "Reply") return undefined
    reply.code(decision.reply.status)
    for (const [name, value] of decision.reply.headers) reply.header(name, value)
    reply.send(decision.reply.body)
    return reply
  }
}
