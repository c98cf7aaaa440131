/** Responses with a secret that the service returns once. */
import { HttpApiSchema } from "effect/http-api"

/** Adds the header that forbids caches to store the response. */
export const shownOnce = <Body>(body: Body) =>
  HttpApiSchema.withHeaders({ body, headers: { "cache-control": "no-store" as const } })
