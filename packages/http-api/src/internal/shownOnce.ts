/** Responses with a secret that the service returns once. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** The response with a header that forbids caches to store it. */
export const shownOnce = <Body extends Schema.Top>(body: Body) =>
  HttpApiSchema.WithHeaders(body, { "cache-control": Schema.Literal("no-store") })
