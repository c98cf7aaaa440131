/** Responses with a secret that is shown this once. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** The response, with a header that keeps what is on the way from keeping it. */
export const shownOnce = <Body extends Schema.Top>(body: Body) =>
  HttpApiSchema.WithHeaders(body, { "cache-control": Schema.Literal("no-store") })
