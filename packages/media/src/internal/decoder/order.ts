/** The messages between `DecoderProcesses` and a process. */
import { Schema } from "effect"
import type { Work, WorkLimits } from "./work.ts"

/** The message with a file. */
export interface Order {
  readonly work: Work
  readonly limits: WorkLimits
  /** Maximum number of bytes of the result. */
  readonly resultBytesMax: number
}

/** The message with a result, if it was made. */
export const Answer = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("made"), width: Schema.Int, height: Schema.Int }),
  Schema.Struct({ kind: Schema.Literal("grew"), bytes: Schema.Int }),
  Schema.Struct({ kind: Schema.Literal("timeout") }),
  Schema.Struct({ kind: Schema.Literal("corrupt"), message: Schema.String })
])
/** Type of `Answer`. */
export type Answer = typeof Answer.Type
