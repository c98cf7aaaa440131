/** Answers with a secret, which is shown this once. */
import { HttpApiSchema } from "effect/http-api"

/** The answer, with a header that keeps what is on the way from keeping it. */
export const shownOnce = <Body>(body: Body) =>
  HttpApiSchema.withHeaders({ body, headers: { "cache-control": "no-store" as const } })
