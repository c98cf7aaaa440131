/** Groups of endpoints whose requests do not copy the services of the process. */
import { Context, Effect, Layer, Scope } from "effect"
import { type HttpApi, HttpApiBuilder, type HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"
import type { ErrorOf, ServicesOf } from "../middleware/refusals.ts"

/**
 * Like `HttpApiBuilder.group`, for handlers that take their services when they are made.
 *
 * The framework merges the context in which a group is built into the context of each request. That would be all services
 * of the process, so the group is built with its middleware alone, and its handlers with all services.
 */
export const of: typeof HttpApiBuilder.group = (api, identifier, build) =>
  Layer.effectContext(Effect.gen(function*() {
    const services = yield* Effect.context()
    const group = HttpApiBuilder.group(api, identifier, (handlers) => {
      const made = build(handlers)
      return Effect.isEffect(made) ? Effect.provideContext(made, services) as typeof made : made
    })
    const groups: Readonly<Record<string, HttpApiGroup.Constraint>> = api.groups
    const endpoints = Object.values(groups[identifier]?.endpoints ?? {})
    // The type of the constraint does not have the middleware.
    const middleware = endpoints.flatMap((endpoint) => [...(endpoint as HttpApiEndpoint.Top).middlewares])
    const narrow = Context.pick(Scope.Scope, ...middleware)(services)
    return yield* Effect.updateContext(Layer.build(group), (_: Context.Context<never>) => narrow)
  }))

/** Like `of`, for a generator function that takes the services and returns the handlers. */
export const make = <
  ApiId extends string,
  Groups extends HttpApiGroup.Constraint,
  const Identifier extends HttpApiGroup.Identifier<Groups>,
  Yielded extends Effect.Effect<unknown, unknown, unknown>,
  Return
>(
  api: HttpApi.HttpApi<ApiId, Groups>,
  identifier: Identifier,
  body: (
    handlers: HttpApiBuilder.Handlers.FromGroup<HttpApiGroup.WithIdentifier<Groups, Identifier>>
  ) => Generator<Yielded, HttpApiBuilder.Handlers.ValidateReturn<Return>, never>
): Layer.Layer<
  HttpApiGroup.Service<ApiId, Identifier>,
  HttpApiBuilder.Handlers.Error<Built<Yielded, Return>>,
  Exclude<HttpApiBuilder.Handlers.Context<Built<Yielded, Return>>, Scope.Scope>
> => {
  const run = Effect.fnUntraced(body)
  return of<ApiId, Groups, Identifier, Built<Yielded, Return>>(
    api,
    identifier,
    (handlers) => run(handlers) as HttpApiBuilder.Handlers.ValidateReturn<Built<Yielded, Return>>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Built<Yielded, Return> = Effect.Effect<Return, ErrorOf<Yielded>, ServicesOf<Yielded>>
