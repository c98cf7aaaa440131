/** Routes and their types, inferred from the contract. Nothing of the contract is bundled. */
import type { AdminApi } from "@kinora/http-api/AdminApi"
import type { Api } from "@kinora/http-api/Api"
import type { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import type { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"

/** The routes of the contract, such as `GET /admin/v1/accounts/:id/keys`. */
export type Route = keyof Endpoints

/** The parameters, query and body of a request. */
export type RequestOf<R extends Route> =
  & Part<"params", HttpApiEndpoint.Params<Endpoints[R]>>
  & Part<"query", HttpApiEndpoint.Query<Endpoints[R]>>
  & Part<"payload", HttpApiEndpoint.Payload<Endpoints[R]>>

/** The body of the successful response. */
export type ResponseOf<R extends Route> = Encoded<HttpApiEndpoint.Success<Endpoints[R]>>

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type EndpointsOf<A> = A extends HttpApi.HttpApi<string, infer Groups> ? HttpApiGroup.Endpoints<Groups> : never

type Endpoints = {
  readonly [
    E in
      | EndpointsOf<typeof Api>
      | EndpointsOf<typeof AdminApi>
      | EndpointsOf<typeof ConsoleApi> as E extends
        { readonly method: infer M extends string; readonly path: infer P extends string } ? `${M} ${P}` : never
  ]: E
}

type Part<Name extends string, S> = [S] extends [never] ? unknown
  : Name extends "query" ? { readonly query?: Encoded<S> }
  : { readonly [K in Name]: Encoded<S> }

/** The wire type of a schema. `toCodecJson` has `Encoded: Json`, so this unwraps its `schema`. */
type Encoded<S> = S extends { readonly schema: infer Inner } ? Encoded<Inner>
  : S extends { readonly Encoded: infer E } ? E
  : never
