/** The use of the budget of an API key. */
import { Schema } from "effect"
import { field, int } from "./fields.ts"

/** Credits and jobs of a key in a period. */
export const keyUse = (description: string) =>
  field(
    Schema.Struct({
      credits: int("Credits of jobs that are not refunded."),
      jobs: int("Jobs that are not refunded.")
    }),
    description
  )
