/** Requests that replace a secret, with an overlap of the former one. */
import { Schema } from "effect"
import { Int64 } from "../Scalar.ts"
import { object, optional } from "./fields.ts"

/** A request with an overlap from 0 to `secondsMax` seconds. `overlap` describes it. */
export const overlapRequest = (identifier: string, description: string, secondsMax: number, overlap: string) =>
  object(identifier, description, {
    overlap_seconds: optional(Int64.check(Schema.isBetween({ minimum: 0, maximum: secondsMax })), overlap)
  })
